#include "apps/graph/generate.hpp"
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

TEST(RoundTrip, vertices_without_edges_stay_but_in_edge_lists) {
  for (const std::string ending : {".hold", ".sg", ".mtx"}) {
    const TemporaryFile file("g" + ending);
    write_graph(undirected(50, {{3, 4}}), file.path());
    EXPECT_EQ(load_graph(file.path()).vertices(), 50u) << ending;
    write_graph(directed(50, {}), file.path());
    EXPECT_EQ(load_graph(file.path()).vertices(), 50u) << ending;
  }
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
