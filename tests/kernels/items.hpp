// The work items of a frontier on a device, dealt out chunk by chunk to random passes: what every
// test of a frontier algorithm's steps needs.
#pragma once

#include <random>
#include <vector>

#include "kernels/demand.hpp"
#include "kernels/visit.hpp"
#include "tests/kernels/device.hpp"
#include "tests/kernels/graphs.hpp"

namespace holdall::kernels {

class Items {
 public:
  Items(const Graph& graph, Bytes chunk_bytes, Stream stream)
      : stream_(stream),
        grid_{graph.edges(), chunk_bytes, 0},
        offsets_(graph.offsets, stream),
        neighbours_(graph.neighbours, stream),
        vertices_(graph.vertices() + grid_.chunks(), stream),
        begins_(vertices_.size(), stream),
        scan_(vertices_.size() + 1, stream),
        chunk_items_(grid_.chunks() + 1, stream),
        chunk_edges_(grid_.chunks(), stream),
        chunk_bitmap_(bitmap_words(grid_.chunks()), stream),
        demand_workspace_(demand_workspace_bytes(graph.vertices(), grid_.chunks(), stream), stream),
        workspace_(visit_workspace_bytes(graph.vertices(), graph.edges(), grid_.chunks(), stream),
                   stream) {}

  const std::uint64_t* offsets() const { return offsets_.data(); }
  const Vertex* neighbours() const { return neighbours_.data(); }
  void* workspace() const { return workspace_.data(); }

  // step(items, pass) until all edges of the frontier have been handed out.
  template <typename Step>
  void deal(const Vertex* frontier, std::uint64_t count, std::size_t passes,
            std::mt19937_64& random, const Step& step) {
    const WorkItems items{vertices_.size(), vertices_.data(), begins_.data(), scan_.data()};
    demand_of_frontier({frontier, count}, offsets_.data(), grid_, items,
                       {chunk_items_.data(), chunk_edges_.data(), chunk_bitmap_.data()},
                       demand_workspace_.data(), stream_);
    const std::vector<std::uint64_t> first = chunk_items_.read();
    const std::vector<std::uint64_t> edges = chunk_edges_.read();
    std::vector<std::vector<ItemRange>> dealt(passes);
    std::vector<ItemPass> made(passes);
    for (std::uint64_t c = 0; c < grid_.chunks(); ++c) {
      const std::size_t p = random() % passes;
      dealt[p].push_back({first[c], first[c + 1] - first[c]});
      made[p].edges += edges[c];
      made[p].items += dealt[p].back().count;
    }
    for (std::size_t p = 0; p < passes; ++p) {
      const DeviceArray<ItemRange> ranges(dealt[p], stream_);
      made[p].ranges = ranges.data();
      made[p].ranges_count = dealt[p].size();
      made[p].blocks = static_cast<unsigned>(random() % 3);
      step(items, made[p]);
      copy(nullptr, nullptr, 0, stream_);  // until it has run
    }
  }

 private:
  Stream stream_;
  ChunkGrid grid_;
  DeviceArray<std::uint64_t> offsets_;
  DeviceArray<Vertex> neighbours_, vertices_;
  DeviceArray<std::uint64_t> begins_, scan_, chunk_items_, chunk_edges_, chunk_bitmap_;
  DeviceArray<std::byte> demand_workspace_, workspace_;
};

// The same with every edge in both directions, lists ascending.
inline Graph symmetrized(const Graph& graph) {
  EdgeList edges;
  for (Vertex v = 0; v < graph.vertices(); ++v)
    for (std::uint64_t e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
      edges.emplace_back(v, graph.neighbours[e]);
      if (graph.neighbours[e] != v) edges.emplace_back(graph.neighbours[e], v);
    }
  std::sort(edges.begin(), edges.end());
  return graph_of(graph.name + " symmetrized", graph.vertices(), edges);
}

inline std::vector<Vertex> list_of(const Graph& graph, Vertex v) {
  return {graph.neighbours.begin() + static_cast<std::ptrdiff_t>(graph.offsets[v]),
          graph.neighbours.begin() + static_cast<std::ptrdiff_t>(graph.offsets[v + 1])};
}

}  // namespace holdall::kernels
