#include "kernels/generate_graph.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "tests/kernels/device.hpp"

namespace holdall::kernels {
namespace {

class GenerateGraph : public OnDevice {};

TEST_P(GenerateGraph, HoldsEachDrawnEdgeBothWaysOnce) {
  for (const auto kind : {RandomGraph::Kind::kron, RandomGraph::Kind::urand}) {
    for (const unsigned scale : {1U, 2U, 10U, 13U}) {
      const RandomGraph drawn{.kind = kind, .scale = scale, .edge_factor = 8, .seed = 5};
      std::set<std::pair<Vertex, Vertex>> expected;
      for (std::uint64_t i = 0; i < drawn.edges(); ++i) {
        const RandomEdge edge = random_edge(drawn, i);
        ASSERT_LT(std::max(edge.from, edge.to), drawn.vertices());
        if (edge.from == edge.to) continue;
        expected.emplace(edge.from, edge.to);
        expected.emplace(edge.to, edge.from);
      }
      const GeneratedGraph graph = generate_graph(drawn, stream());
      const std::vector<std::uint64_t> offsets = graph.offsets.read();
      const std::vector<Vertex> neighbours = graph.neighbours.read();
      ASSERT_EQ(graph.vertices, drawn.vertices());
      ASSERT_EQ(graph.edges, expected.size());
      ASSERT_EQ(offsets.front(), 0U);
      ASSERT_EQ(offsets.back(), expected.size());
      auto next = expected.begin();
      for (Vertex v = 0; v < graph.vertices; ++v) {
        for (std::uint64_t e = offsets[v]; e < offsets[v + 1]; ++e) {
          ASSERT_EQ(std::pair(v, neighbours[e]), *next++);
        }
      }
    }
  }
}

TEST(RandomEdge, DependsOnTheSeed) {
  const RandomGraph one{.scale = 20, .seed = 1};
  const RandomGraph two{.scale = 20, .seed = 2};
  int same = 0;
  for (std::uint64_t i = 0; i < 100; ++i) {
    same += random_edge(one, i).from == random_edge(two, i).from ? 1 : 0;
  }
  EXPECT_LT(same, 10);
}

ON_EVERY_DEVICE(GenerateGraph);

}  // namespace
}  // namespace holdall::kernels
