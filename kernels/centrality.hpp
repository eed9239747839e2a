// Betweenness centrality (Brandes: A faster algorithm for betweenness centrality, 2001): for each
// source, forward level by level, counting shortest paths, then backward, adding up dependencies.
//
//   centrality_clear(state, stream);
//   for each source:
//     centrality_start(state, source, stream);
//     begins = {0, 1};
//     for (depth = 0; begins[depth] < begins[depth + 1]; ++depth) {
//       // demand_of_frontier(order + begins[depth], ...), then for each pass
//       centrality_forward(state, depth, items, pass, stream);
//       begins.push_back(begins.back() + centrality_next(state, begins.back(), stream));
//     }
//     for (; depth >= 0; --depth)
//       // demand_of_frontier(order + begins[depth], ...), then for each pass
//       centrality_backward(state, depth, items, pass, stream);
//     centrality_add(state, source, stream);
//
// Nothing waits but centrality_next. Steps on one state belong on one stream. They throw Error if
// `stream` is a GPU's and the library was built without CUDA; DriverError.
#pragma once

#include <cstdint>

#include "engine/vmm/stream.hpp"
#include "kernels/demand.hpp"
#include "kernels/visit.hpp"

namespace holdall::kernels {

// The depth of what is not reached.
inline constexpr std::uint32_t no_depth = 0xFFFF'FFFF;

struct CentralityState {
  std::uint64_t vertices = 0;
  const Vertex* neighbours = nullptr;  // that the step may read; aligned as ids are
  double* scores = nullptr;            // [vertices], the result, not normalised
  double* paths = nullptr;             // [vertices]: shortest ones from the source
  double* dependencies = nullptr;      // [vertices]
  std::uint32_t* depths = nullptr;     // [vertices]; no_depth: not reached
  Vertex* order = nullptr;             // [vertices]: level by level, each ascending
  std::uint64_t* bits = nullptr;       // [bitmap_words(vertices)]: of the next level
  void* workspace = nullptr;           // visit_workspace_bytes, 256-byte aligned
};

void centrality_clear(const CentralityState& state, Stream stream);
void centrality_start(const CentralityState& state, Vertex source, Stream stream);

// Along the items' edges from vertices at `depth`: finds the next level and adds paths up.
void centrality_forward(const CentralityState& state, std::uint32_t depth, const WorkItems& items,
                        const ItemPass& pass, Stream stream);

// Writes the next level to `order` from `at` on; answers its size. Waits.
std::uint64_t centrality_next(const CentralityState& state, std::uint64_t at, Stream stream);

// Along the items' edges from vertices at `depth` to those one deeper.
void centrality_backward(const CentralityState& state, std::uint32_t depth, const WorkItems& items,
                         const ItemPass& pass, Stream stream);

// scores += dependencies, but for the source's own.
void centrality_add(const CentralityState& state, Vertex source, Stream stream);

}  // namespace holdall::kernels
