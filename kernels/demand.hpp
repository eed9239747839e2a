// The chunk demand of a frontier: which chunks of the neighbour array hold the edges of these
// vertices, how many edges in each, and the work cut at chunk borders so that it can be done chunk
// by chunk, in any order, as chunks become resident.
//
// A *work item* is the part of one frontier vertex's list that lies in one chunk. Items stand in
// edge order, so the items of a chunk are neighbours and a pass is a list of item ranges.
// No edge is read here, only offsets.
#pragma once

#include <cstdint>

#include "engine/vmm/bytes.hpp"
#include "engine/vmm/stream.hpp"
#include "kernels/edges.hpp"

namespace holdall::kernels {

// Vertices, ascending, each once; in memory that the device can read.
struct Frontier {
  const Vertex* vertices = nullptr;
  std::uint64_t count = 0;
};

// Where demand_of_frontier writes the items. There are at most frontier.count + chunks of them.
struct WorkItems {
  std::uint64_t capacity = 0;       // at least frontier.count + grid.chunks()
  Vertex* vertices = nullptr;       // [capacity]: whose edges
  std::uint64_t* begins = nullptr;  // [capacity]: the first edge
  std::uint64_t* scan = nullptr;    // [capacity + 1]: edges in all items before this one
};

// ... and what it says of each chunk.
struct ChunkDemand {
  std::uint64_t* items =
      nullptr;  // [chunks + 1]: the items of chunk c are [items[c], items[c + 1])
  std::uint64_t* edges = nullptr;   // [chunks]: edges demanded
  std::uint64_t* bitmap = nullptr;  // [bitmap_words(chunks)]: chunks with edges demanded
};

// The items [first, first + count).
struct ItemRange {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

// The items that a step may work on: the ranges of the chunks that are resident.
struct ItemPass {
  const ItemRange* ranges = nullptr;  // in memory that the step's device can read, until it has run
  std::uint64_t ranges_count = 0;
  std::uint64_t edges = 0;  // the sum of the items' edges (of ChunkDemand::edges)
  std::uint64_t items = 0;  // the sum of the ranges' counts
  // So many blocks of a GPU at most, in the order of the edges, for edges that are read over the
  // link: more would spread the reads, which is slower. 0: as many as there is work for.
  unsigned blocks = 0;
};

// For frontiers of up to `vertices` and grids of up to `chunks`.
Bytes demand_workspace_bytes(std::uint64_t vertices, std::uint64_t chunks, Stream stream);

// Fills `items` and `demand`; does not wait. The number of items is demand.items[chunks].
// `workspace`: demand_workspace_bytes, 256-byte aligned.
void demand_of_frontier(const Frontier& frontier, const std::uint64_t* offsets,
                        const ChunkGrid& grid, const WorkItems& items, const ChunkDemand& demand,
                        void* workspace, Stream stream);

// The bitmap alone, without items or workspace; does not wait.
void chunks_of_frontier(const Frontier& frontier, const std::uint64_t* offsets,
                        const ChunkGrid& grid, std::uint64_t* bitmap, Stream stream);

}  // namespace holdall::kernels
