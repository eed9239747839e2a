#include "kernels/bfs.hpp"

#include "tests/kernels/device.hpp"
#include "tests/kernels/graphs.hpp"

namespace holdall::kernels {
namespace {

// One graph's search on a device.
struct World {
  World(Stream stream, const std::vector<std::uint64_t>& list_offsets, const Vertex* neighbours,
        const ChunkGrid& grid)
      : stream(stream),
        grid(grid),
        vertices(list_offsets.size() - 1),
        most(vertices + grid.chunks()),
        offsets(list_offsets, stream),
        parents(vertices, stream),
        frontier(vertices, stream),
        reached(bitmap_words(vertices), stream),
        settled(bitmap_words(vertices), stream),
        front(bitmap_words(vertices), stream),
        workspace(visit_workspace_bytes(vertices, grid.edges, grid.chunks(), stream), stream),
        item_vertices(most, stream),
        item_begins(most, stream),
        item_scan(most + 1, stream),
        chunk_items(grid.chunks() + 1, stream),
        chunk_edges(grid.chunks(), stream),
        chunk_bitmap(bitmap_words(grid.chunks()), stream),
        demand_workspace(demand_workspace_bytes(vertices, grid.chunks(), stream), stream),
        items{most, item_vertices.data(), item_begins.data(), item_scan.data()},
        state{.vertices = vertices,
              .neighbours = neighbours,
              .parents = parents.data(),
              .frontier = frontier.data(),
              .reached = reached.data(),
              .settled = settled.data(),
              .front = front.data(),
              .workspace = workspace.data()} {}

  void demand(std::uint64_t count) {
    demand_of_frontier({state.frontier, count}, offsets.data(), grid, items,
                       {chunk_items.data(), chunk_edges.data(), chunk_bitmap.data()},
                       demand_workspace.data(), stream);
  }

  // Expands what the frontier demands of these chunks, which ascend; or pulls for it.
  void expand(const std::vector<std::uint64_t>& chunks, bool pull = false, unsigned blocks = 0) {
    const std::vector<std::uint64_t> first = chunk_items.read();
    const std::vector<std::uint64_t> edges = chunk_edges.read();
    std::vector<ItemRange> ranges;
    ItemPass pass;
    for (const std::uint64_t c : chunks) {
      ranges.push_back({first[c], first[c + 1] - first[c]});
      pass.edges += edges[c];
      pass.items += ranges.back().count;
    }
    pass.blocks = blocks;
    passes.emplace_back(ranges, stream);
    pass.ranges = passes.back().data();
    pass.ranges_count = ranges.size();
    pull ? bfs_pull(state, items, pass, stream) : bfs_expand(state, items, pass, stream);
  }

  // Works on the search of another world, along the edges of this one.
  void join(const World& other) {
    const BfsState own = state;
    state = other.state;
    state.neighbours = own.neighbours;
    state.workspace = own.workspace;
  }

  Stream stream;
  ChunkGrid grid;
  std::uint64_t vertices;
  std::uint64_t most;
  DeviceArray<std::uint64_t> offsets;
  DeviceArray<Vertex> parents;
  DeviceArray<Vertex> frontier;
  DeviceArray<std::uint64_t> reached;
  DeviceArray<std::uint64_t> settled;
  DeviceArray<std::uint64_t> front;
  DeviceArray<std::byte> workspace;
  DeviceArray<Vertex> item_vertices;
  DeviceArray<std::uint64_t> item_begins;
  DeviceArray<std::uint64_t> item_scan;
  DeviceArray<std::uint64_t> chunk_items;
  DeviceArray<std::uint64_t> chunk_edges;
  DeviceArray<std::uint64_t> chunk_bitmap;
  DeviceArray<std::byte> demand_workspace;
  WorkItems items;
  BfsState state;
  std::vector<DeviceArray<ItemRange>> passes;  // alive until they have run
};

constexpr int unreached = -1;

// The vertices of each level, ascending, and the level of each vertex.
struct Levels {
  std::vector<std::vector<Vertex>> vertices;
  std::vector<int> depths;
};

Levels serial_levels(const Graph& graph, Vertex source) {
  Levels levels{{{source}}, std::vector<int>(graph.vertices(), unreached)};
  levels.depths[source] = 0;
  for (int depth = 1; !levels.vertices.back().empty(); ++depth) {
    std::vector<Vertex> next;
    for (const Vertex v : levels.vertices.back()) {
      for (std::uint64_t e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
        int& its = levels.depths[graph.neighbours[e]];
        if (its != unreached) continue;
        its = depth;
        next.push_back(graph.neighbours[e]);
      }
    }
    std::sort(next.begin(), next.end());
    levels.vertices.push_back(next);
  }
  return levels;
}

class Bfs : public OnDevice {
 protected:
  enum Directions { top_down, bottom_up, either };

  // Searches with the demanded chunks dealt out to `passes` random passes a level.
  void expect_as_serial(const Graph& graph, Vertex source, const ChunkGrid& grid,
                        std::size_t passes, std::mt19937_64& random,
                        Directions directions = top_down) {
    const Graph turned = transpose(graph);
    const DeviceArray<Vertex> in_neighbours(turned.neighbours, stream());
    World in(stream(), turned.offsets, in_neighbours.data(), grid);
    const Levels expected = serial_levels(graph, source);
    const DeviceArray<Vertex> neighbours(graph.neighbours, stream());
    World world(stream(), graph.offsets, neighbours.data(), grid);
    in.join(world);
    std::uint64_t count = bfs_start(world.state, source, stream());
    for (const std::vector<Vertex>& level : expected.vertices) {
      ASSERT_EQ(count, level.size());
      std::vector<Vertex> frontier(count);
      copy(frontier.data(), world.frontier.data(), sizeof(Vertex) * count, stream());
      ASSERT_EQ(frontier, level);
      const bool pull = directions == bottom_up || (directions == either && random() % 2 == 0);
      World& through = pull ? in : world;
      through.demand(pull ? bfs_unreached(in.state, stream()) : count);
      std::vector<std::vector<std::uint64_t>> dealt(passes);
      for (std::uint64_t c = 0; c < grid.chunks(); ++c) dealt[random() % passes].push_back(c);
      for (const auto& chunks : dealt)
        through.expand(chunks, pull, static_cast<unsigned>(random() % 3));
      count = bfs_next_frontier(world.state, stream());
    }
    const std::vector<Vertex> parents = world.parents.read();
    for (Vertex v = 0; v < graph.vertices(); ++v) {
      const Vertex parent = parents[v];
      if (expected.depths[v] == unreached) {
        ASSERT_EQ(parent, no_vertex);
      } else if (v == source) {
        ASSERT_EQ(parent, source);
      } else {
        ASSERT_EQ(expected.depths[parent] + 1, expected.depths[v]) << "vertex " << v;
        const auto list = graph.neighbours.begin();
        const auto begin = list + static_cast<std::ptrdiff_t>(graph.offsets[parent]);
        const auto end = list + static_cast<std::ptrdiff_t>(graph.offsets[parent + 1]);
        ASSERT_NE(std::find(begin, end, v), end) << parent << " has no edge to " << v;
      }
    }
  }
};

TEST_P(Bfs, ReachesTheSerialLevelsHoweverTheChunksAreDealt) {
  std::mt19937_64 random(4);
  for (const Graph& graph : small_graphs()) {
    for (const Bytes chunk_bytes : {Bytes{64}, Bytes{4096}, 1_MiB}) {
      SCOPED_TRACE(graph.name + ", chunk: " + std::to_string(chunk_bytes));
      const ChunkGrid grid{graph.edges(), chunk_bytes, random() % 50 * sizeof(Vertex)};
      for (const std::size_t passes : {1, 4}) {
        const auto source = static_cast<Vertex>(random() % graph.vertices());
        expect_as_serial(graph, source, grid, passes, random);
      }
      expect_as_serial(graph, 0, grid, 2, random);
    }
  }
}

TEST_P(Bfs, ReachesTheSerialLevelsBottomUp) {
  std::mt19937_64 random(5);
  for (const Graph& graph : small_graphs()) {
    for (const Bytes chunk_bytes : {Bytes{64}, Bytes{4096}, 1_MiB}) {
      SCOPED_TRACE(graph.name + ", chunk: " + std::to_string(chunk_bytes));
      const ChunkGrid grid{graph.edges(), chunk_bytes, random() % 50 * sizeof(Vertex)};
      const auto source = static_cast<Vertex>(random() % graph.vertices());
      expect_as_serial(graph, source, grid, 3, random, bottom_up);
      expect_as_serial(graph, 0, grid, 2, random, either);
    }
  }
}

TEST_P(Bfs, ReadsOnlyTheEdgesOfThePass) {
  const Graph graph = small_graphs().back();
  const ChunkGrid grid{graph.edges(), 64, 0};
  // The chunks that are not passed lead to a vertex that nothing else leads to.
  const Vertex trap = 29'999;
  std::vector<Vertex> neighbours = graph.neighbours;
  std::vector<std::uint64_t> passed;
  for (std::uint64_t c = 0; c < grid.chunks(); ++c) {
    if (c % 3 != 0) {
      passed.push_back(c);
      continue;
    }
    std::fill(neighbours.begin() + static_cast<std::ptrdiff_t>(grid.first_edge(c)),
              neighbours.begin() + static_cast<std::ptrdiff_t>(grid.first_edge(c + 1)), trap);
  }
  const DeviceArray<Vertex> held(neighbours, stream());
  World world(stream(), graph.offsets, held.data(), grid);
  world.demand(bfs_start(world.state, 4'000, stream()));
  world.expand(passed);
  EXPECT_GT(bfs_next_frontier(world.state, stream()), 1'000U);
  EXPECT_EQ(world.parents.read()[trap], no_vertex);
}

TEST_P(Bfs, PositionsPast32BitsAreReadWhereTheyLie) {
  // One list that goes past 2^32, of which two chunks are passed.
  const std::uint64_t edges = (1ull << 32) + 20;
  const ChunkGrid grid{edges, 1_MiB, 64};
  const std::vector<std::uint64_t> offsets{0, edges, edges, edges, edges};
  const HugeArray neighbours(edges, stream());
  World world(stream(), offsets, neighbours.data(), grid);
  const std::uint64_t here = 1ull << 31;
  const std::uint64_t there = 1ull << 32;
  const std::vector<std::uint64_t> chunks{grid.chunk_of(here), grid.chunk_of(there)};
  std::vector<Vertex> leads_to(1_MiB / sizeof(Vertex));
  for (const std::uint64_t c : chunks) {
    const std::uint64_t first = grid.first_edge(c);
    leads_to[(c == chunks[0] ? here : there) - first] = c == chunks[0] ? 2 : 3;
    copy(neighbours.data() + first, leads_to.data(),
         sizeof(Vertex) * (grid.first_edge(c + 1) - first), stream());
    std::fill(leads_to.begin(), leads_to.end(), 0);
  }
  world.demand(bfs_start(world.state, 0, stream()));
  world.expand(chunks);
  EXPECT_EQ(bfs_next_frontier(world.state, stream()), 2U);
  EXPECT_EQ(world.parents.read(), (std::vector<Vertex>{0, no_vertex, 0, 0}));
}

ON_EVERY_DEVICE(Bfs);

}  // namespace
}  // namespace holdall::kernels
