#include "apps/graph/build.hpp"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <fstream>
#include <random>

#include "apps/graph/external.hpp"
#include "apps/graph/generate.hpp"
#include "apps/graph/write.hpp"
#include "tests/graph/language.hpp"

namespace holdall::graph {
namespace {

// The plainest thing that could be right.
Edges naive(Edges edges, const BuildOptions& options) {
  if (options.symmetrize) {
    const Edges once = edges;
    for (const auto [from, to] : once)
      if (from != to) edges.push_back({to, from});
  }
  if (options.remove_self_loops) std::erase_if(edges, [](Edge e) { return e.from == e.to; });
  const auto key = [](Edge e) { return std::pair(e.from, e.to); };
  std::ranges::sort(edges, {}, key);
  if (options.deduplicate) {
    const auto tail = std::ranges::unique(edges);
    edges.erase(tail.begin(), tail.end());
  }
  return edges;
}

Edges some_edges(std::uint64_t seed, std::uint64_t vertices, std::size_t count) {
  std::mt19937_64 random(seed);
  Edges edges(count);
  for (Edge& edge : edges)
    edge = {static_cast<Vertex>(random() % vertices), static_cast<Vertex>(random() % vertices)};
  return edges;
}

TEST(Build, agrees_with_the_naive_way_under_every_option) {
  for (int bits = 0; bits < 8; ++bits)
    for (const std::uint64_t vertices : {1, 2, 7, 1000}) {
      const BuildOptions options{.symmetrize = (bits & 1) != 0,
                                 .deduplicate = (bits & 2) != 0,
                                 .remove_self_loops = (bits & 4) != 0};
      const Edges edges = some_edges(vertices, vertices, 5000);
      const Csr csr = build_csr(EdgeList(vertices, edges), options);
      EXPECT_EQ(edges_of(csr), naive(edges, options)) << bits << " " << vertices;
      EXPECT_EQ(csr.directed, !options.symmetrize);
      EXPECT_EQ(csr.vertices(), vertices);
    }
}

TEST(Build, the_edges_in_are_the_edges_out_reversed) {
  const Csr csr = directed(100, some_edges(1, 100, 3000));
  Edges reversed = edges_of(csr.out);
  for (Edge& edge : reversed) std::swap(edge.from, edge.to);
  EXPECT_EQ(edges_of(csr.in()), naive(reversed, {}));
}

TEST(Build, an_undirected_graph_has_its_edges_in_in_its_edges_out) {
  const Csr csr = undirected(3, {{0, 1}, {1, 2}});
  EXPECT_EQ(&csr.in(), &csr.out);
  EXPECT_EQ(edges_of(csr), (Edges{{0, 1}, {1, 0}, {1, 2}, {2, 1}}));
}

TEST(Build, does_not_depend_on_the_number_of_threads) {
  const tbb::global_control many(tbb::global_control::max_allowed_parallelism, 8);
  const Edges edges = some_edges(2, 5000, 300'000);
  const auto build = [&] {
    return build_csr(EdgeList(5000, edges), {.symmetrize = true, .deduplicate = true});
  };
  const Csr one = tbb::task_arena(1).execute(build);
  const Csr eight = tbb::task_arena(8).execute(build);
  expect_same(one, eight);
}

TEST(Build, a_hub_with_most_of_the_edges_is_sorted_too) {
  Edges edges(1'500'000);
  for (std::size_t i = 0; i < edges.size(); ++i)
    edges[i] = {0, static_cast<Vertex>(i * 7919 % 100'003)};
  const Csr csr = directed(100'003, edges);
  EXPECT_TRUE(std::ranges::is_sorted(csr.out.of(0)));
  EXPECT_EQ(csr.out.degree(0), edges.size());
}

TEST(Build, one_vertex_without_edges_is_a_graph) {
  const Csr csr = undirected(1, {});
  EXPECT_EQ(csr.vertices(), 1u);
  EXPECT_EQ(csr.edges(), 0u);
}

TEST(Build, no_vertices_are_refused) {
  expect_says(complaint([] { (void)undirected(0, {}); }), "no vertices");
}

TEST(Build, an_edge_out_of_range_is_refused) {
  expect_says(complaint([] { (void)directed(3, {{0, 3}}); }), "0 -> 3");
}

TEST(Build, a_graph_past_the_memory_allowed_is_refused_before_it_is_built) {
  const EdgeList edges(1ull << 32, {{0, 0xffffffff}});
  const std::string message = complaint([&] { (void)build_csr(edges, {.memory = 64_MiB}); });
  expect_says(message, "4294967296 vertices needs 64.0 GiB");
  expect_says(message, "64 MiB");
  expect_says(message, "compact");
}

// Edges that take no memory of their own.
class Drawn final : public EdgeSource {
 public:
  Drawn(std::string_view generator, Weights kind)
      : generator_(parse_generator(generator)), kind_(kind) {}
  std::uint64_t vertices() const override { return generator_.vertices(); }
  std::uint64_t blocks() const override { return generator_.edges() / block; }
  Weights weights() const override { return kind_; }
  EdgeBlock read(std::uint64_t index, EdgeScratch& scratch) const override {
    scratch.edges.resize(block);
    scratch.weights.resize(kind_ == Weights::none ? 0 : block);
    for (std::uint64_t i = 0; i < block; ++i) {
      scratch.edges[i] = generate_edge(generator_, index * block + i);
      if (kind_ != Weights::none) scratch.weights[i] = scratch.edges[i].from % 255;
    }
    return {scratch.edges, scratch.weights};
  }

 private:
  static constexpr std::uint64_t block = 1 << 10;
  Generator generator_;
  Weights kind_;
};

Bytes kibibytes_of(const std::string& key) {
  std::ifstream status("/proc/self/status");
  std::string word;
  Bytes value = 0;
  while (status >> word)
    if (word == key && status >> value) return value << 10;
  return 0;
}

// How much more memory than before `call` takes at its peak; 0 where that cannot be measured.
template <typename Call>
Bytes peak_of(Call call) {
  std::ofstream("/proc/self/clear_refs") << "5" << std::flush;  // the peak begins anew
  const Bytes before = kibibytes_of("VmRSS:"), peak = kibibytes_of("VmHWM:");
  if (before == 0 || peak > before + 1_MiB) return 0;
  call();
  return kibibytes_of("VmHWM:") - before;
}

#ifndef __SANITIZE_ADDRESS__  // whose memory is measured too
TEST(Build, takes_the_graph_once_and_a_little_for_each_vertex) {
  for (const Weights kind : {Weights::none, Weights::int32}) {
    const Drawn source("urand:17:32", kind);
    Csr csr;
    const Bytes peak = peak_of([&] { csr = build_csr(source, {.symmetrize = true}); });
    if (peak == 0) GTEST_SKIP() << "the peak of memory cannot be measured here";
    EXPECT_GE(peak, csr.out.bytes() / 2);  // it was measured
    EXPECT_LE(peak, csr.out.bytes() + 8 * csr.vertices() + 16_MiB);
  }
}

TEST(External, sorting_keeps_to_its_memory) {
  const Drawn source("urand:14:256", Weights::int32);
  const TemporaryFile file("g.hold");
  const Bytes memory = 32_MiB;
  const Bytes peak =
      peak_of([&] { build_hold(source, {.symmetrize = true, .memory = memory}, file.path()); });
  if (peak == 0) GTEST_SKIP() << "the peak of memory cannot be measured here";
  EXPECT_LE(peak, memory + 16_MiB);
  EXPECT_GT(open_graph(file.path()).bytes, memory);
}
#endif

TEST(External, sorting_ends_with_the_same_file) {
  for (const bool symmetrize : {false, true})
    for (const bool deduplicate : {false, true})
      for (const Weights kind : {Weights::none, Weights::int32}) {
        const Drawn source("kron:12:200", kind);  // of some runs
        const BuildOptions options{
            .symmetrize = symmetrize, .deduplicate = deduplicate, .remove_self_loops = deduplicate};
        const TemporaryFile sorted("sorted.hold"), built("built.hold");
        BuildOptions little = options;
        little.memory = 17_MiB;
        build_hold(source, little, sorted.path());
        write_graph(build_csr(source, options), built.path());
        EXPECT_TRUE(sorted.contents() == built.contents());
        check_contents(open_graph(sorted.path()));
      }
}

TEST(External, too_little_memory_for_the_offsets_is_refused) {
  const EdgeList edges(1 << 24, {{0, 1}});
  const TemporaryFile file("g.hold");
  expect_says(complaint([&] { build_hold(edges, {.memory = 64_MiB}, file.path()); }),
              "even when it is sorted on disk");
}

TEST(Summary, counts_self_loops_duplicates_and_lonely_vertices) {
  const Summary summary = summarize(directed(6, {{0, 1}, {0, 1}, {0, 1}, {2, 2}, {2, 2}, {1, 3}}));
  EXPECT_EQ(summary.vertices, 6u);
  EXPECT_EQ(summary.edges, 6u);
  EXPECT_EQ(summary.duplicates, 2u);
  EXPECT_EQ(summary.self_loops, 2u);
  EXPECT_EQ(summary.isolated, 2u);  // 4 and 5
  EXPECT_EQ(summary.dangling, 3u);  // and 3
  EXPECT_EQ(summary.greatest_degree, 3u);
}

TEST(Array, shrinking_keeps_what_stays) {
  auto array = Array<int>::zeros(100'000);
  array[9] = 7;
  array.shrink(10);
  EXPECT_EQ(array.size(), 10u);
  EXPECT_EQ(array[9], 7);
}

TEST(Array, what_no_machine_has_is_refused) {
  expect_says(complaint([] { (void)Array<std::uint64_t>::uninitialized(1ull << 62); }),
              "no memory");
}

}  // namespace
}  // namespace holdall::graph
