// The core number of every vertex of an undirected graph, by peeling (Dasari, Desh, Zubair: ParK:
// An efficient algorithm for k-core decomposition on multicore processors, 2014): the greatest k
// such that the vertex is in a subgraph in which all have a degree of k or more. The degree is the
// length of the list: repeated edges count, a loop counts once.
//
//   kcore_start(state, stream);
//   for (std::uint32_t k; (k = kcore_least(state, stream)) != no_core;) {
//     kcore_mark(state, k, stream);
//     while ((count = kcore_take(state, k, stream)) > 0)
//       // demand_of_frontier(state.frontier), then for each pass
//       kcore_drop(state, k, items, pass, stream);
//   }
//
// Nothing waits but what answers a number. Steps on one state belong on one stream. They throw
// Error if `stream` is a GPU's and the library was built without CUDA; DriverError.
#pragma once

#include <cstdint>

#include "engine/vmm/stream.hpp"
#include "kernels/demand.hpp"
#include "kernels/visit.hpp"

namespace holdall::kernels {

// The core number of what has not been peeled.
inline constexpr std::uint32_t no_core = 0xFFFF'FFFF;

struct KcoreState {
  std::uint64_t vertices = 0;
  const std::uint64_t* offsets = nullptr;
  const Vertex* neighbours = nullptr;  // that the step may read; aligned as ids are
  std::uint32_t* cores = nullptr;      // [vertices], the result; no_core: not peeled yet
  std::uint32_t* degrees = nullptr;    // [vertices], among those not peeled yet
  Vertex* frontier = nullptr;          // [vertices], ascending
  std::uint64_t* bits = nullptr;       // [bitmap_words(vertices)]: to be peeled
  std::uint32_t* answer = nullptr;     // [1]
  void* workspace = nullptr;           // visit_workspace_bytes, 256-byte aligned
};

void kcore_start(const KcoreState& state, Stream stream);

// The smallest degree of those not peeled yet; no_core: all are. Waits.
std::uint32_t kcore_least(const KcoreState& state, Stream stream);

// Marks those of degree `k` or less.
void kcore_mark(const KcoreState& state, std::uint32_t k, Stream stream);

// Peels what is marked: core number `k`. That is the frontier; answers its size. Waits.
std::uint64_t kcore_take(const KcoreState& state, std::uint32_t k, Stream stream);

// Takes the items' edges from the degrees of those not peeled yet; marks those that fall to `k`.
void kcore_drop(const KcoreState& state, std::uint32_t k, const WorkItems& items,
                const ItemPass& pass, Stream stream);

}  // namespace holdall::kernels
