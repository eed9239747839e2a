// Breadth-first search. A level goes top-down, from the frontier along its out-edges, or bottom-up,
// from each vertex not yet reached along its in-edges until one leads to the frontier (Beamer,
// Asanovic, Patterson: Direction-optimizing breadth-first search, 2012). Either way it is
// demand_of_frontier (kernels/demand.hpp), a step for each pass until every item has been worked on
// once, in any order, and `bfs_next_frontier`.
//
//   std::uint64_t count = bfs_start(state, source, stream);
//   for (int depth = 0; count > 0; ++depth) {
//     if (bottom_up) count = bfs_unreached(state, stream);
//     demand_of_frontier({state.frontier, count}, offsets, grid, items, demand, workspace, stream);
//     for (const ItemPass& pass : passes)  // under a lease; state.neighbours: out- or in-edges
//       bottom_up ? bfs_pull(state, items, pass, stream) : bfs_expand(state, items, pass, stream);
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
#include "kernels/visit.hpp"

namespace holdall::kernels {

struct BfsState {
  std::uint64_t vertices = 0;
  const Vertex* neighbours = nullptr;  // that the step may read; aligned as ids are
  Vertex* parents = nullptr;           // [vertices], the result: no_vertex where not reached,
                                       // the source's own is itself
  Vertex* frontier = nullptr;          // [vertices], ascending
  std::uint64_t* reached = nullptr;    // [bitmap_words(vertices)], with this level's finds
  std::uint64_t* settled = nullptr;    // [bitmap_words(vertices)], without them
  std::uint64_t* front = nullptr;      // [bitmap_words(vertices)], the frontier; may be left out
                                       // where no level goes bottom-up
  void* workspace = nullptr;           // visit_workspace_bytes, 256-byte aligned
};

// Nothing reached but `source`, which is the frontier. Answers the frontier's size, 1. Does not
// wait.
std::uint64_t bfs_start(const BfsState& state, Vertex source, Stream stream);

// Gives each neighbour that the items lead to, and that has no parent, one of them as its parent.
// Does not wait.
void bfs_expand(const BfsState& state, const WorkItems& items, const ItemPass& pass, Stream stream);

// Makes the vertices that are not reached yet the list `frontier`, to be demanded and pulled for;
// answers their number. The next bfs_next_frontier undoes it. Waits.
std::uint64_t bfs_unreached(const BfsState& state, Stream stream);

// Looks along the items' edges, in-edges now, for one from the frontier; the first found is the
// parent. An item whose vertex has been reached reads nothing. Does not wait.
void bfs_pull(const BfsState& state, const WorkItems& items, const ItemPass& pass, Stream stream);

// Makes the vertices found since the last frontier the next one and answers their number. Waits.
std::uint64_t bfs_next_frontier(const BfsState& state, Stream stream);

}  // namespace holdall::kernels
