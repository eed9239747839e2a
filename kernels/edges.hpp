// How a graph's edges lie in memory and how a caller says which of them a step may read.
//
// A graph is in CSR form: the neighbours of vertex v are `neighbours[offsets[v]]` to
// `neighbours[offsets[v + 1] - 1]`. `offsets` is always touchable; `neighbours` is paged, so a step
// reads only the edges that its *pass* names. An edge is known by its position in `neighbours`.
#pragma once

#include <cstdint>

#include "engine/vmm/bytes.hpp"
#include "kernels/vertex.hpp"

namespace holdall::kernels {

// The edges [first, first + count).
struct EdgeSpan {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

// The edges that a step may read: spans that ascend and do not overlap, empty ones allowed.
struct EdgePass {
  const EdgeSpan* spans = nullptr;  // in memory that the step's device can read, until it has run
  std::uint64_t spans_count = 0;
  std::uint64_t edges = 0;  // the sum of the spans' counts
};

// The chunks [first, first + count).
struct ChunkSpan {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

// How the neighbour array is cut into chunks: edge e lies in chunk
// (offset + sizeof(Vertex) e) / chunk_bytes.
struct ChunkGrid {
  std::uint64_t edges = 0;  // in the whole array
  Bytes chunk_bytes = 0;    // a power of two, at least 64
  Bytes offset = 0;         // of edge 0 from the start of chunk 0; a multiple of sizeof(Vertex)

  constexpr std::uint64_t chunks() const { return edges == 0 ? 0 : chunk_of(edges - 1) + 1; }
  constexpr std::uint64_t chunk_of(std::uint64_t edge) const {
    return (offset + sizeof(Vertex) * edge) / chunk_bytes;
  }
  // The first edge in `chunk` or after it; `edges` past the last.
  constexpr std::uint64_t first_edge(std::uint64_t chunk) const {
    const Bytes at = chunk * chunk_bytes;
    const std::uint64_t edge = at < offset ? 0 : (at - offset) / sizeof(Vertex);
    return edge < edges ? edge : edges;
  }
  constexpr ChunkSpan chunks_of(EdgeSpan span) const {
    if (span.count == 0) return {};
    const std::uint64_t first = chunk_of(span.first);
    return {first, chunk_of(span.first + span.count - 1) - first + 1};
  }
};

// A bitmap of n bits: bit i is bit i % 64 of word i / 64. Bits past the last are 0.
constexpr std::uint64_t bitmap_words(std::uint64_t bits) { return (bits + 63) / 64; }

}  // namespace holdall::kernels
