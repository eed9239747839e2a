// PageRank by pulling: one iteration is `pagerank_begin`, `pagerank_pull` for each pass until every
// edge has been read once, in any order, and `pagerank_finish`.
//
// The definition is that of the GAP benchmark suite: 32-bit scores, a vertex without out-edges
// keeps its score to itself (it is not spread over the others), error = sum |new - old|.
//
//   pagerank_start(state, stream);
//   do {
//     pagerank_begin(state, stream);
//     for (const EdgePass& pass : passes) pagerank_pull(state, pass, stream);  // under a lease
//     pagerank_finish(state, stream);
//   } while (pagerank_error(state, stream) > 1e-4);
//
// Nothing waits for the stream but `pagerank_error`. Steps on one state belong on one stream.
// They throw Error if `stream` is a GPU's and the library was built without CUDA; DriverError.
#pragma once

#include <cstdint>

#include "engine/vmm/bytes.hpp"
#include "engine/vmm/stream.hpp"
#include "kernels/edges.hpp"

namespace holdall::kernels {

struct PagerankState {
  std::uint64_t vertices = 0;  // those that are worked on; [vertices] counts them alone
  const std::uint64_t* in_offsets = nullptr;   // [vertices + 1]
  const std::uint64_t* out_offsets = nullptr;  // [vertices + 1]; that of the in-edges if symmetric
  const Vertex* in_neighbours = nullptr;       // [in_offsets[vertices]], paged; aligned as ids are
  float* scores = nullptr;                     // [vertices], the result
  float* contributions = nullptr;              // [first + vertices], of the whole graph
  float* sums = nullptr;                       // [vertices]
  void* workspace = nullptr;                   // pagerank_workspace_bytes, 256-byte aligned
  float damping = 0.85F;
  // Where the vertices are a part of a greater graph: the number of the first, and how many there
  // are in all (0: these). The contributions of the others are the caller's to bring.
  std::uint64_t first = 0;
  std::uint64_t all = 0;

  constexpr std::uint64_t in_all() const { return all == 0 ? vertices : all; }
};

// Room for passes of at most so many edges and spans.
Bytes pagerank_workspace_bytes(std::uint64_t pass_edges, std::uint64_t pass_spans, Stream stream);

// scores = 1 / in_all().
void pagerank_start(const PagerankState& state, Stream stream);

// contributions = scores / out-degree, 0 where there are no out-edges; sums = 0.
void pagerank_begin(const PagerankState& state, Stream stream);

// sums[v] += the contributions of v's in-neighbours, of the edges in `pass`. The order of
// additions, and with it the last bits, vary where a vertex's list is cut.
void pagerank_pull(const PagerankState& state, const EdgePass& pass, Stream stream);

// scores = (1 - damping) / in_all() + damping * sums, and their change for pagerank_error.
void pagerank_finish(const PagerankState& state, Stream stream);

// The change of the last pagerank_finish: sum |new - old|, the same for the same scores. Waits.
double pagerank_error(const PagerankState& state, Stream stream);

}  // namespace holdall::kernels
