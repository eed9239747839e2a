#include "kernels/sssp.hpp"

#include "tests/kernels/items.hpp"

namespace holdall::kernels {
namespace {

std::vector<std::uint32_t> serial_distances(const Graph& graph,
                                            const std::vector<std::uint32_t>& weights,
                                            bool floating, Vertex source) {
  std::vector<std::uint32_t> distances(graph.vertices(), no_path);
  distances[source] = 0;
  std::vector<Vertex> queue{source};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const Vertex v = queue[i];
    for (std::uint64_t e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
      const std::uint32_t path = path_along(distances[v], weights[e], floating);
      if (path >= distances[graph.neighbours[e]]) continue;
      distances[graph.neighbours[e]] = path;
      queue.push_back(graph.neighbours[e]);
    }
  }
  return distances;
}

struct World {
  World(const Graph& graph, const std::vector<std::uint32_t>& weighs, bool floating, Stream stream)
      : out(graph, 4096, stream),
        weights(weighs, stream),
        distances(graph.vertices(), stream),
        frontier(graph.vertices(), stream),
        answers(2, stream),
        waiting(bitmap_words(graph.vertices()), stream),
        chosen(bitmap_words(graph.vertices()), stream),
        state{graph.vertices(), out.neighbours(),   weights.data(), floating,
              distances.data(), frontier.data(),    waiting.data(), chosen.data(),
              answers.data(),   answers.data() + 1, out.workspace()} {}
  Items out;
  DeviceArray<std::uint32_t> weights, distances;
  DeviceArray<Vertex> frontier;
  DeviceArray<std::uint32_t> answers;
  DeviceArray<std::uint64_t> waiting, chosen;
  SsspState state;
};

class Sssp : public OnDevice {
 protected:
  void search(World& world, Vertex source, std::uint32_t delta, std::mt19937_64& random) {
    sssp_start(world.state, source, stream());
    for (std::uint32_t limit = delta;;) {
      if (const std::uint64_t count = sssp_select(world.state, limit, stream())) {
        world.out.deal(world.frontier.data(), count, 3, random,
                       [&](const WorkItems& items, const ItemPass& pass) {
                         sssp_relax(world.state, items, pass, stream());
                       });
        continue;
      }
      const std::uint32_t nearest = sssp_nearest(world.state, stream());
      if (nearest == no_path) break;
      ASSERT_GE(nearest, limit);
      limit = std::max(path_along(nearest, delta, world.state.floating), nearest + 1);
    }
  }
};

TEST_P(Sssp, FindsTheSerialDistancesWhateverTheDelta) {
  std::mt19937_64 random(9);
  for (const Graph& graph : small_graphs())
    for (const bool floating : {false, true})
      for (const std::uint32_t delta : {1U, 50U, 1'000'000U}) {
        SCOPED_TRACE(graph.name + ", delta " + std::to_string(delta));
        std::vector<std::uint32_t> weights(graph.edges());
        for (std::uint32_t& weight : weights) {
          const auto drawn = static_cast<std::uint32_t>(random() % 256);  // 0 too
          weight = floating ? std::bit_cast<std::uint32_t>(static_cast<float>(drawn) / 3) : drawn;
        }
        const auto source = static_cast<Vertex>(random() % graph.vertices());
        World world(graph, weights, floating, stream());
        search(world, source,
               floating ? std::bit_cast<std::uint32_t>(static_cast<float>(delta)) : delta, random);
        ASSERT_EQ(world.distances.read(), serial_distances(graph, weights, floating, source));
        ASSERT_EQ(world.answers.read()[1], 0U);
      }
}

TEST_P(Sssp, NoticesDistancesPast32Bits) {
  std::mt19937_64 random(10);
  const Graph graph = graph_of("chain", 4, {{0, 1}, {1, 2}, {2, 3}});
  World world(graph, {0x7fff'ffff, 0x7fff'ffff, 5}, false, stream());
  search(world, 0, 1'000'000'000, random);
  EXPECT_EQ(world.answers.read()[1], 1U);
  search(world, 1, 1'000'000'000, random);
  EXPECT_EQ(world.answers.read()[1], 0U);
  EXPECT_EQ(world.distances.read()[3], 0x8000'0004U);
}

ON_EVERY_DEVICE(Sssp);

}  // namespace
}  // namespace holdall::kernels
