#include "apps/graph/generate.hpp"
#include "apps/graph/weights.hpp"
#include "apps/graph/write.hpp"
#include "tests/graph/language.hpp"

namespace holdall::graph {
namespace {

Csr some_graph(bool directed_too) {
  const Generator generator = parse_generator("kron:10:4", 5);
  Edges edges;
  for (std::uint64_t i = 0; i < generator.edges(); ++i)
    edges.push_back(generate_edge(generator, i));
  edges.push_back({1023, 1023});  // so that every format keeps the last vertex; a self-loop too
  return directed_too ? directed(1024, edges) : undirected(1024, edges);
}

class RoundTrip : public testing::TestWithParam<std::pair<std::string, std::string>> {};

// Duplicates and self-loops included.
TEST_P(RoundTrip, ends_with_the_same_graph) {
  const auto& [first, second] = GetParam();
  for (const bool directed : {false, true}) {
    const Csr graph = some_graph(directed);
    const TemporaryFile one("one" + first), two("two" + second);
    write_graph(graph, one.path());
    convert(one.path(), two.path(), {.symmetrize = !directed});
    expect_same(load_graph(two.path(), {.symmetrize = !directed}), graph);
  }
}

std::vector<std::pair<std::string, std::string>> pairs() {
  std::vector<std::pair<std::string, std::string>> all;
  for (const std::string from : {".hold", ".sg", ".el", ".mtx"})
    for (const std::string to : {".hold", ".sg", ".el", ".mtx"}) all.emplace_back(from, to);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Formats, RoundTrip, testing::ValuesIn(pairs()), [](const auto& info) {
  return info.param.first.substr(1) + "_to_" + info.param.second.substr(1);
});

// With weights: those that a format keeps. Formats that say nothing of directions end directed.
TEST(RoundTrip, weights_come_back) {
  for (const bool directed : {false, true})
    for (const Weights kind : {Weights::int32, Weights::float32}) {
      Csr graph = some_graph(directed);
      add_weights(graph, kind, 3);
      for (const std::string ending : {".hold", ".wsg", ".wel", ".txt", ".mtx"}) {
        const TemporaryFile file("g" + ending);
        write_graph(graph, file.path());
        const bool text = ending == ".wel" || ending == ".txt";
        const Csr back = load_graph(file.path(), {.symmetrize = text && !directed});
        expect_same(back, graph);
      }
      for (const std::string ending : {".bwcsr", ".bel"}) {
        const TemporaryFile file("g" + ending);
        write_graph(graph, file.path());
        const Csr back = load_graph(file.path());
        EXPECT_TRUE(back.directed);
        EXPECT_EQ(back.weights, kind);
        EXPECT_TRUE(std::ranges::equal(back.out.offsets, graph.out.offsets));
        EXPECT_TRUE(std::ranges::equal(back.out.neighbours, graph.out.neighbours));
        EXPECT_TRUE(std::ranges::equal(back.out.weights, graph.out.weights));
      }
      for (const std::string ending : {".sg", ".el", ".bcsr"}) {
        const TemporaryFile file("g" + ending);
        write_graph(graph, file.path());
        const Csr back = load_graph(file.path(), {.symmetrize = ending == ".el" && !directed});
        EXPECT_EQ(back.weights, Weights::none);
        EXPECT_EQ(edges_of(back), edges_of(graph));
      }
    }
}

TEST(RoundTrip, weights_are_kept_when_the_graph_is_changed) {
  const Csr graph = build_csr(EdgeList(5, {{0, 4}, {0, 4}, {4, 2}}, Weights::int32, {9, 7, 1}));
  for (const std::string ending : {".hold", ".wsg", ".wel", ".bwcsr", ".bel"}) {
    const TemporaryFile file("g" + ending);
    write_graph(graph, file.path());
    EXPECT_EQ(weighted_edges_of(load_graph(
                  file.path(), {.symmetrize = true, .deduplicate = true, .compact = true})),
              (std::vector<std::string>{"0 2 7", "1 2 1", "2 0 7", "2 1 1"}))
        << ending;
    EXPECT_EQ(load_graph(file.path(), {.unweighted = true}).weights, Weights::none);
  }
}

TEST(RoundTrip, formats_for_weights_refuse_a_graph_without) {
  for (const std::string ending : {".wsg", ".wel", ".bwcsr"}) {
    const TemporaryFile file("g" + ending);
    expect_says(complaint([&] { write_graph(directed(2, {{0, 1}}), file.path()); }), "--weights");
  }
}

TEST(RoundTrip, vertices_without_edges_stay_but_in_edge_lists) {
  for (const std::string ending : {".hold", ".sg", ".mtx"}) {
    const TemporaryFile file("g" + ending);
    write_graph(undirected(50, {{3, 4}}), file.path());
    EXPECT_EQ(load_graph(file.path()).vertices(), 50u) << ending;
    write_graph(directed(50, {}), file.path());
    EXPECT_EQ(load_graph(file.path()).vertices(), 50u) << ending;
  }
}

TEST(Loading, sorting_on_disk_ends_with_the_same_file) {
  Csr graph = some_graph(true);
  add_weights(graph);
  for (const std::string ending : {".hold", ".wel", ".mtx", ".bel"}) {
    const TemporaryFile from("g" + ending), built("built.hold"), sorted("sorted.hold");
    write_graph(graph, from.path());
    LoadOptions options{.symmetrize = true,
                        .deduplicate = true,
                        .compact = true,
                        .relabel = LoadOptions::Relabel::degree};
    convert(from.path(), built.path(), options);
    options.memory = 32_MiB;
    options.sorted_to = sorted.path();
    EXPECT_EQ(load_graph(from.path(), options).vertices(), 0u);
    EXPECT_TRUE(sorted.contents() == built.contents()) << ending;
  }
}

TEST(Loading, ids_are_traced_back_through_every_change) {
  const TemporaryFile file("g.hold");
  write_graph(parsed("70 90\n90 80\n80 91\n91 90\n", {.compact = true}), file.path());
  const Csr csr =
      load_graph(file.path(), {.symmetrize = true, .relabel = LoadOptions::Relabel::degree});
  EXPECT_TRUE(std::ranges::equal(csr.original_ids, std::vector<Vertex>{90, 80, 91, 70}));
}

TEST(Loading, binary_files_obey_the_options_too) {
  for (const std::string ending : {".hold", ".sg"}) {
    const TemporaryFile file("g" + ending);
    const Edges edges = {{0, 1}, {0, 1}, {2, 2}, {5, 0}};
    write_graph(directed(6, edges), file.path());
    expect_same(load_graph(file.path(), {.symmetrize = true}), undirected(6, edges));
    EXPECT_EQ(edges_of(load_graph(file.path(), {.deduplicate = true, .remove_self_loops = true})),
              (Edges{{0, 1}, {5, 0}}));
    EXPECT_EQ(load_graph(file.path(), {.compact = true}).vertices(), 4u);
    write_graph(undirected(6, edges), file.path());
    EXPECT_EQ(edges_of(load_graph(file.path(), {.deduplicate = true, .remove_self_loops = true})),
              (Edges{{0, 1}, {0, 5}, {1, 0}, {5, 0}}));
  }
}

TEST(Loading, a_graph_past_the_memory_allowed_is_refused) {
  for (const std::string ending : {".hold", ".sg", ".el"}) {
    const TemporaryFile file("g" + ending);
    write_graph(some_graph(true), file.path());
    expect_says(complaint([&] { (void)load_graph(file.path(), {.memory = 4_KiB}); }), "4 KiB");
  }
}

}  // namespace
}  // namespace holdall::graph
