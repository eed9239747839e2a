// Breadth-first search, top-down: a level is `demand_of_frontier` (kernels/demand.hpp),
// `bfs_expand` for each pass until every item has been worked on once, in any order, and
// `bfs_next_frontier`.
//
//   std::uint64_t count = bfs_start(state, source, stream);
//   for (int depth = 0; count > 0; ++depth) {
//     demand_of_frontier({state.frontier, count}, offsets, grid, items, demand, workspace, stream);
//     for (const ItemPass& pass : passes) bfs_expand(state, items, pass, stream);  // under a lease
//     count = bfs_next_frontier(state, stream);
//   }
//
// The vertices that a level reaches do not depend on the passes; which of several parents a vertex
// gets does. Steps on one state belong on one stream. They throw Error if `stream` is a GPU's and
// the library was built without CUDA; DriverError.
#pragma once

#include <cstdint>

#include "engine/vmm/bytes.hpp"
#include "engine/vmm/stream.hpp"
#include "kernels/demand.hpp"
#include "kernels/edges.hpp"

namespace holdall::kernels {

struct BfsState {
  std::uint64_t vertices = 0;
  const std::uint32_t* neighbours = nullptr;  // of the out-edges, paged; 4-byte aligned
  std::uint32_t* parents = nullptr;   // [vertices], the result: no_vertex where not reached,
                                      // the source's own is itself
  std::uint32_t* frontier = nullptr;  // [vertices], ascending
  std::uint64_t* reached = nullptr;   // [bitmap_words(vertices)], with this level's finds
  std::uint64_t* settled = nullptr;   // [bitmap_words(vertices)], without them
  void* workspace = nullptr;          // bfs_workspace_bytes, 256-byte aligned
};

// Room for passes of at most so many edges and item ranges.
Bytes bfs_workspace_bytes(std::uint64_t vertices, std::uint64_t pass_edges,
                          std::uint64_t pass_ranges, Stream stream);

// Nothing reached but `source`, which is the frontier. Answers the frontier's size, 1. Does not
// wait.
std::uint64_t bfs_start(const BfsState& state, std::uint32_t source, Stream stream);

// Gives each neighbour that the items lead to, and that has no parent, one of them as its parent.
// Does not wait.
void bfs_expand(const BfsState& state, const WorkItems& items, const ItemPass& pass, Stream stream);

// Makes the vertices found since the last frontier the next one and answers their number. Waits.
std::uint64_t bfs_next_frontier(const BfsState& state, Stream stream);

}  // namespace holdall::kernels
