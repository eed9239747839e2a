#include "kernels/components.hpp"

#include "kernels/bfs.hpp"
#include "tests/kernels/items.hpp"

namespace holdall::kernels {
namespace {

// The smallest vertex that each one is connected with.
std::vector<Vertex> serial_components(const Graph& graph) {
  std::vector<Vertex> labels(graph.vertices());
  for (Vertex v = 0; v < graph.vertices(); ++v) labels[v] = v;
  for (bool changed = true; changed;) {
    changed = false;
    for (Vertex v = 0; v < graph.vertices(); ++v)
      for (const Vertex to : list_of(graph, v)) {
        const Vertex least = std::min(labels[v], labels[to]);
        changed = changed || labels[v] != least || labels[to] != least;
        labels[v] = labels[to] = least;
      }
  }
  return labels;
}

class Components : public OnDevice {
 protected:
  struct World {
    World(const Graph& graph, Bytes chunk_bytes, Stream stream)
        : out(graph, chunk_bytes, stream),
          labels(graph.vertices(), stream),
          frontier(graph.vertices(), stream),
          bits(bitmap_words(graph.vertices()), stream),
          state{graph.vertices(), out.offsets(), out.neighbours(), labels.data(),
                frontier.data(),  bits.data(),   out.workspace()} {}
    Items out;
    DeviceArray<Vertex> labels, frontier;
    DeviceArray<std::uint64_t> bits;
    ComponentsState state;
  };
};

TEST_P(Components, OfAfforestAreTheSerialOnesHoweverTheChunksAreDealt) {
  std::mt19937_64 random(6);
  for (const Graph& shape : small_graphs()) {
    const Graph graph = symmetrized(shape);
    const std::vector<Vertex> expected = serial_components(graph);
    for (const std::uint32_t rounds : {0U, 1U, 2U, 100U}) {
      SCOPED_TRACE(graph.name + ", rounds " + std::to_string(rounds));
      World world(graph, 4096, stream());
      components_start(world.state, stream());
      for (const auto& spans : random_passes(graph.edges(), 20, 3, random)) {
        const DeviceArray<EdgeSpan> held(spans, stream());
        components_sample(world.state, {held.data(), spans.size(), edges_of(spans)}, rounds,
                          static_cast<unsigned>(random() % 3), stream());
        copy(nullptr, nullptr, 0, stream());
      }
      components_flatten(world.state, stream());
      const Vertex label = components_most_frequent(world.state, stream());
      const std::uint64_t count = components_outside(world.state, label, stream());
      world.out.deal(world.frontier.data(), count, 3, random,
                     [&](const WorkItems& items, const ItemPass& pass) {
                       components_link(world.state, items, pass, stream());
                     });
      components_flatten(world.state, stream());
      ASSERT_EQ(world.labels.read(), expected);
    }
  }
}

TEST_P(Components, OfMultistepAreTheSerialOnesWhereverTheSearchStops) {
  std::mt19937_64 random(9);
  for (const Graph& shape : small_graphs()) {
    const Graph graph = symmetrized(shape);
    const std::vector<Vertex> expected = serial_components(graph);
    for (const int levels : {0, 1, 3, 100}) {
      SCOPED_TRACE(graph.name + ", levels " + std::to_string(levels));
      World world(graph, 4096, stream());
      const DeviceArray<std::uint64_t> settled(bitmap_words(graph.vertices()), stream());
      const BfsState search{graph.vertices(),
                            world.out.neighbours(),
                            world.labels.data(),
                            world.frontier.data(),
                            world.bits.data(),
                            settled.data(),
                            nullptr,
                            world.out.workspace()};
      const Hub hub = components_hub(world.state, stream());
      std::uint64_t count = bfs_start(search, hub.vertex, stream());
      for (int level = 0; level < levels && count > 0; ++level) {
        world.out.deal(world.frontier.data(), count, 2, random,
                       [&](const WorkItems& items, const ItemPass& pass) {
                         bfs_expand(search, items, pass, stream());
                       });
        count = bfs_next_frontier(search, stream());
      }
      components_start_with(world.state, world.bits.data(), stream());
      count = list_vertices(world.bits.data(), false, graph.vertices(), world.frontier.data(),
                            world.out.workspace(), stream());
      world.out.deal(world.frontier.data(), count, 3, random,
                     [&](const WorkItems& items, const ItemPass& pass) {
                       components_link(world.state, items, pass, stream());
                     });
      components_flatten(world.state, stream());
      ASSERT_EQ(world.labels.read(), expected);
    }
  }
}

TEST_P(Components, BeginAtTheFirstVertexOfTheMostEdges) {
  for (const Graph& graph : small_graphs()) {
    SCOPED_TRACE(graph.name);
    World world(graph, 4096, stream());
    const Hub hub = components_hub(world.state, stream());
    Vertex expected = 0;
    for (Vertex v = 0; v < graph.vertices(); ++v)
      if (list_of(graph, v).size() > list_of(graph, expected).size()) expected = v;
    EXPECT_EQ(hub.vertex, expected);
    EXPECT_EQ(hub.edges, list_of(graph, expected).size());
  }
}

TEST_P(Components, StartWithOneWhoseLabelIsItsSmallestVertex) {
  std::mt19937_64 random(10);
  for (const std::uint64_t vertices : {1, 64, 65, 5000, 100'000}) {
    const Graph graph = graph_of("no edges", vertices, {});
    World world(graph, 4096, stream());
    std::vector<std::uint64_t> words(bitmap_words(vertices));
    std::vector<Vertex> expected(vertices);
    Vertex least = no_vertex;
    for (Vertex v = 0; v < vertices; ++v) {
      const bool in = v + 1 == vertices || (v > vertices / 3 && random() % 3 == 0);
      if (in) words[v / 64] |= std::uint64_t{1} << v % 64;
      if (in) least = std::min(least, v);
      expected[v] = in ? least : v;
    }
    const DeviceArray<std::uint64_t> joined(words, stream());
    components_start_with(world.state, joined.data(), stream());
    EXPECT_EQ(world.labels.read(), expected);
  }
}

TEST_P(Components, OfLabelPropagationAreTheSerialOnes) {
  std::mt19937_64 random(7);
  for (const Graph& shape : small_graphs()) {
    SCOPED_TRACE(shape.name);
    const Graph graph = symmetrized(shape);
    World world(graph, 4096, stream());
    components_start(world.state, stream());
    while (const std::uint64_t count = components_changed(world.state, stream()))
      world.out.deal(world.frontier.data(), count, 3, random,
                     [&](const WorkItems& items, const ItemPass& pass) {
                       components_send(world.state, items, pass, stream());
                     });
    ASSERT_EQ(world.labels.read(), serial_components(graph));
  }
}

TEST_P(Components, ListsTheVerticesOfABitmapOrTheOthers) {
  std::mt19937_64 random(8);
  for (const std::uint64_t vertices : {1, 63, 64, 65, 5000, 100'000}) {
    std::vector<std::uint64_t> words(bitmap_words(vertices));
    std::vector<Vertex> with, without;
    for (Vertex v = 0; v < vertices; ++v) {
      const bool in = random() % (v < vertices / 2 ? 2 : 100) == 0;
      words[v / 64] |= std::uint64_t{in} << v % 64;
      (in ? with : without).push_back(v);
    }
    const DeviceArray<std::uint64_t> bits(words, stream());
    const DeviceArray<Vertex> list(vertices, stream());
    const DeviceArray<std::byte> workspace(visit_workspace_bytes(vertices, 0, 1, stream()),
                                           stream());
    for (const bool value : {true, false}) {
      const auto& expected = value ? with : without;
      ASSERT_EQ(
          list_vertices(bits.data(), value, vertices, list.data(), workspace.data(), stream()),
          expected.size());
      std::vector<Vertex> found = list.read();
      found.resize(expected.size());
      ASSERT_EQ(found, expected);
    }
  }
}

ON_EVERY_DEVICE(Components);

}  // namespace
}  // namespace holdall::kernels
