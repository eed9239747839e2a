// Counts triangles of an undirected graph with ascending lists, each once: u > v > w, where v is in
// u's list, and w in u's and in v's. Loops make none, repeated edges count once.
#pragma once

#include <cstdint>

#include "engine/vmm/stream.hpp"
#include "kernels/edges.hpp"

namespace holdall::kernels {

// The vertices [first, end).
struct VertexSpan {
  std::uint64_t first = 0;
  std::uint64_t end = 0;
};

struct TrianglesState {
  std::uint64_t vertices = 0;
  const std::uint64_t* offsets = nullptr;
  const Vertex* neighbours = nullptr;  // aligned as ids are
  std::uint64_t* count = nullptr;      // [1], the result; to be cleared by the caller
};

// Adds those triangles whose greatest vertex is in `greatest`, and the next in `middle`, to the
// count. Reads the lists of both, whole. `edges`: those of the lists of `greatest`. Does not wait.
// Throws Error if `stream` is a GPU's and the library was built without CUDA; DriverError.
void count_triangles(const TrianglesState& state, const VertexSpan& greatest, const EdgeSpan& edges,
                     const VertexSpan& middle, Stream stream);

// How many values of the shorter list, ascending and below `below`, the longer has too, each once.
// Every `step`th of the shorter list is looked at, from `from` on.
constexpr std::uint64_t common_below(const Vertex* shorter, std::uint64_t shorter_count,
                                     const Vertex* longer, std::uint64_t longer_count, Vertex below,
                                     std::uint64_t from, std::uint64_t step) {
  std::uint64_t common = 0;
  std::uint64_t start = 0;
  for (std::uint64_t i = from; i < shorter_count && shorter[i] < below; i += step) {
    const Vertex value = shorter[i];
    if (i > 0 && shorter[i - 1] == value) continue;
    std::uint64_t low = start;
    std::uint64_t high = longer_count;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (longer[middle] < value) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    start = low;
    common += low < longer_count && longer[low] == value ? 1 : 0;
  }
  return common;
}

}  // namespace holdall::kernels
