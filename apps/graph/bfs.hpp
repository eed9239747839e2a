// Breadth-first search over a paged graph: top-down, level by level. A level brings in the chunks
// that hold the neighbours of its frontier, and no others.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "apps/graph/device_list.hpp"
#include "apps/graph/paged_graph.hpp"
#include "kernels/bfs.hpp"

namespace holdall::graph {

struct BfsResult {
  std::vector<Vertex> parents;  // kernels::no_vertex where not reached; the source's is itself
  std::uint64_t reached = 0;
  std::uint64_t edges = 0;  // read
  int levels = 0;
  double seconds = 0;
};

class Bfs {
 public:
  // Takes its vertex state: about 36 bytes a vertex of the budget, kept between runs.
  // Throws WorkingSetTooLarge where that is too much.
  explicit Bfs(const PagedGraph& graph);

  // Throws GraphError if there is no such source; what Engine::passes throws.
  BfsResult run(std::uint64_t source, const Watch& watch = {});

 private:
  const PagedGraph& graph_;
  kernels::ChunkGrid grid_;
  VertexArray<std::uint32_t> parents_, frontier_, item_vertices_;
  VertexArray<std::uint64_t> reached_, settled_, item_begins_, item_scan_, chunk_items_,
      chunk_edges_, chunk_bitmap_;
  VertexArray<std::byte> workspace_, demand_workspace_;
  HostArray<std::uint64_t> seen_items_, seen_edges_, seen_bitmap_;
  std::optional<DeviceList<kernels::ItemRange>> ranges_;
  Lease lease_;
};

}  // namespace holdall::graph
