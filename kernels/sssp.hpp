// Shortest paths from one source, weights not negative: a worklist with a threshold (near and far:
// Davidson, Baxter, Garland, Owens: Work-efficient parallel GPU methods for single-source shortest
// paths, 2014). Vertices whose distance fell wait until it is below the threshold; then their edges
// are relaxed, and when none is below it moves on.
//
//   sssp_start(state, source, stream);
//   for (Distance limit = delta;;) {
//     count = sssp_select(state, limit, stream);
//     if (count == 0) {
//       nearest = sssp_nearest(state, stream);
//       if (nearest == no_path) break;
//       limit = nearest + delta;   // past it
//       continue;
//     }
//     // demand_of_frontier(state.frontier), then for each pass
//     sssp_relax(state, items, pass, stream);
//   }
//
// A distance is 32 bits: a whole number, or the bits of a float, whose order is the same where
// nothing is negative. Nothing waits but what answers a number. Steps on one state belong on one
// stream. They throw Error if `stream` is a GPU's and the library was built without CUDA;
// DriverError.
#pragma once

#include <bit>
#include <cstdint>

#include "engine/vmm/bytes.hpp"
#include "engine/vmm/stream.hpp"
#include "kernels/demand.hpp"
#include "kernels/edges.hpp"
#include "kernels/visit.hpp"

namespace holdall::kernels {

// The distance of what is not reached. No distance that is one is as great.
inline constexpr std::uint32_t no_path = 0xFFFF'FFFF;

struct SsspState {
  std::uint64_t vertices = 0;
  const Vertex* neighbours = nullptr;      // that the step may read; aligned as ids are
  const std::uint32_t* weights = nullptr;  // of the same edges
  bool floating = false;                   // weights and distances are floats
  std::uint32_t* distances = nullptr;      // [vertices], the result
  Vertex* frontier = nullptr;              // [vertices], ascending
  std::uint64_t* waiting = nullptr;        // [bitmap_words(vertices)]
  std::uint64_t* chosen = nullptr;         // [bitmap_words(vertices)]
  std::uint32_t* answer = nullptr;         // [1]
  std::uint32_t* overflow = nullptr;       // [1], not 0 once a distance was past what 32 bits hold
  void* workspace = nullptr;               // visit_workspace_bytes, 256-byte aligned
};

// Where a path goes on along an edge: `from` + `weight`, no_path where that is too much.
constexpr std::uint32_t path_along(std::uint32_t from, std::uint32_t weight, bool floating) {
  if (floating)
    return std::bit_cast<std::uint32_t>(std::bit_cast<float>(from) + std::bit_cast<float>(weight));
  const std::uint64_t sum = std::uint64_t{from} + weight;
  return sum < no_path ? static_cast<std::uint32_t>(sum) : no_path;
}

void sssp_start(const SsspState& state, Vertex source, Stream stream);

// Makes the waiting vertices whose distance is below `limit` the frontier; they wait no more.
// Answers their number. Waits.
std::uint64_t sssp_select(const SsspState& state, std::uint32_t limit, Stream stream);

// The smallest distance of those that wait; no_path: nobody does. Waits.
std::uint32_t sssp_nearest(const SsspState& state, Stream stream);

// Lowers the distances of the items' neighbours; those that fell wait.
void sssp_relax(const SsspState& state, const WorkItems& items, const ItemPass& pass,
                Stream stream);

}  // namespace holdall::kernels
