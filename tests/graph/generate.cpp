#include "apps/graph/generate.hpp"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include "kernels/random_edge.hpp"
#include "tests/graph/language.hpp"

namespace holdall::graph {
namespace {

TEST(Generate, specifications_are_read_as_written) {
  const Generator kron = parse_generator("kron:20");
  EXPECT_EQ(kron.kind, Generator::Kind::kron);
  EXPECT_EQ(kron.scale, 20u);
  EXPECT_EQ(kron.edge_factor, 16u);
  const Generator urand = parse_generator("urand:5:3", 9);
  EXPECT_EQ(urand.kind, Generator::Kind::urand);
  EXPECT_EQ(urand.edges(), 96u);
  EXPECT_EQ(urand.seed, 9u);
  EXPECT_EQ(to_string(urand), "urand:5:3");
  EXPECT_TRUE(names_generator("kron:zero"));
  EXPECT_FALSE(names_generator("kron.txt"));
}

TEST(Generate, bad_specifications_are_refused_with_the_form) {
  for (const std::string_view text :
       {"kron", "kron:", "kron:0", "kron:41", "kron:-1", "kron:5x", "kron:5:", "kron:5:0",
        "kron:5:65537", "kron:5:6:7", "kron: 5", "", "kron:99999999999999999999"}) {
    const std::string message = complaint([&] { (void)parse_generator(text); });
    expect_says(message, "kron:SCALE[:EDGEFACTOR]");
    expect_says(message, fmt::format("scale 1 to {}", kernels::most_scale));
  }
}

TEST(Generate, a_grid_joins_each_vertex_to_those_around_it) {
  const Generator grid = parse_generator("grid:3x4");
  EXPECT_EQ(to_string(grid), "grid:3x4");
  const Csr csr = generate(grid);
  EXPECT_EQ(csr.vertices(), 12u);
  EXPECT_EQ(csr.edges(), 2u * (3 * 3 + 2 * 4));
  EXPECT_TRUE(std::ranges::equal(csr.out.of(0), std::vector<Vertex>{1, 4}));
  EXPECT_TRUE(std::ranges::equal(csr.out.of(3), std::vector<Vertex>{2, 7}));
  EXPECT_TRUE(std::ranges::equal(csr.out.of(5), std::vector<Vertex>{1, 4, 6, 9}));
  EXPECT_TRUE(std::ranges::equal(csr.out.of(11), std::vector<Vertex>{7, 10}));
  EXPECT_EQ(generate(parse_generator("grid:1x1")).edges(), 0u);
  EXPECT_EQ(generate(parse_generator("grid:1x900")).edges(), 2u * 899);
  const std::string too_large = fmt::format("grid:2x{}", most_vertices / 2 + 1);
  for (const std::string_view text : {"grid:", "grid:5", "grid:0x5", "grid:5x", "grid:5x0",
                                      "grid:-1x5", "grid:2x3x4", too_large.c_str()})
    expect_says(complaint([&] { (void)parse_generator(text); }), "grid:ROWSxCOLUMNS");
}

TEST(Generate, the_same_seed_makes_the_same_edges_for_ever) {
  // Values of this version: another machine, compiler or number of threads must not change them.
  EXPECT_EQ(generate_edge(parse_generator("kron:20"), 12345), (Edge{471464, 485425}));
  EXPECT_EQ(generate_edge(parse_generator("urand:32", 7), 1), (Edge{2617329553u, 1639734648u}));
}

TEST(Generate, the_graph_does_not_depend_on_the_number_of_threads) {
  const tbb::global_control many(tbb::global_control::max_allowed_parallelism, 8);
  for (const std::string_view text : {"kron:12:8", "urand:12"}) {
    const auto make = [&] { return generate(parse_generator(text)); };
    expect_same(tbb::task_arena(1).execute(make), tbb::task_arena(8).execute(make));
  }
}

TEST(Generate, seeds_make_different_graphs) {
  EXPECT_NE(edges_of(generate(parse_generator("kron:8", 1))),
            edges_of(generate(parse_generator("kron:8", 2))));
}

TEST(Generate, graphs_are_undirected_without_duplicates_or_self_loops) {
  for (const std::string_view text : {"kron:10", "urand:10", "kron:1", "urand:1:100"}) {
    const Generator generator = parse_generator(text);
    const Csr csr = generate(generator);
    const Summary summary = summarize(csr);
    EXPECT_FALSE(csr.directed);
    EXPECT_EQ(csr.vertices(), generator.vertices());
    EXPECT_EQ(summary.self_loops, 0u);
    EXPECT_EQ(summary.duplicates, 0u);
    EXPECT_EQ(edges_of(transpose(csr.out)), edges_of(csr));
  }
}

TEST(Generate, urand_is_even_and_kron_is_skewed) {
  const Summary urand = summarize(generate(parse_generator("urand:14")));
  EXPECT_NEAR(static_cast<double>(urand.edges), 32.0 * 16384, 32.0 * 16384 * 0.01);
  EXPECT_LT(urand.greatest_degree, 70u);  // mean 32, deviation 5.7
  EXPECT_EQ(urand.isolated, 0u);

  const Summary kron = summarize(generate(parse_generator("kron:14")));
  EXPECT_GT(kron.greatest_degree, 1000u);
  EXPECT_GT(kron.isolated, 16384u / 20);
  EXPECT_LT(kron.edges, 32u * 16384);
  EXPECT_GT(kron.edges, 20u * 16384);
}

TEST(Generate, the_quadrants_of_kron_have_the_weights_of_graph500) {
  // At scale 1 the relabelling is the identity or a swap; A = .57 tells which.
  const Generator generator = parse_generator("kron:1:50000", 3);
  double counts[2][2] = {};
  const auto total = static_cast<double>(generator.edges());
  for (std::uint64_t i = 0; i < generator.edges(); ++i) {
    const Edge edge = generate_edge(generator, i);
    counts[edge.from][edge.to] += 1 / total;
  }
  EXPECT_NEAR(std::max(counts[0][0], counts[1][1]), 0.57, 0.01);
  EXPECT_NEAR(counts[0][1], 0.19, 0.01);
  EXPECT_NEAR(counts[1][0], 0.19, 0.01);
  EXPECT_NEAR(std::min(counts[0][0], counts[1][1]), 0.05, 0.01);
}

TEST(Generate, kron_relabels_so_that_hubs_are_spread) {
  const Csr csr = generate(parse_generator("kron:12"));
  std::uint64_t lower = 0;
  for (std::uint64_t v = 0; v < csr.vertices() / 2; ++v) lower += csr.out.degree(v);
  EXPECT_NEAR(static_cast<double>(lower) / static_cast<double>(csr.edges()), 0.5, 0.15);
}

TEST(Generate, every_scale_has_edges_in_range) {
  for (unsigned scale = 1; scale <= kernels::most_scale; ++scale)
    for (const auto kind : {Generator::Kind::kron, Generator::Kind::urand}) {
      const Generator generator{.kind = kind, .scale = scale};
      std::uint64_t greatest = 0;
      for (std::uint64_t i = 0; i < 300; ++i) {
        const Edge edge = generate_edge(generator, i);
        greatest = std::max<std::uint64_t>({greatest, edge.from, edge.to});
      }
      EXPECT_LT(greatest, generator.vertices());
      EXPECT_GE(greatest, generator.vertices() / 2);
    }
}

TEST(Generate, a_graph_past_the_memory_allowed_is_refused) {
  expect_says(complaint([] { (void)generate(parse_generator("kron:30"), 1_GiB); }), "1 GiB");
}

}  // namespace
}  // namespace holdall::graph
