// How device bodies go over the edges and the items of a pass.
#pragma once

#include <cub/block/block_scan.cuh>
#include <cuda/functional>

#include "kernels/demand.hpp"
#include "kernels/on_gpu.cuh"
#include "kernels/search.hpp"

namespace holdall::kernels::gpu {

// Edges are numbered through all items (items.scan); a block takes a tile of such numbers that lies
// within one range. It marks in shared memory where items start, so that each thread knows its
// edges' items and a warp reads neighbours side by side.
constexpr int thread_edges = 8;
constexpr int tile_edges = block_threads * thread_edges;

struct VisitTile {
  std::uint64_t first;        // edge number
  std::uint64_t first_item;   // that holds it
  std::uint32_t items_count;  // that the tile holds edges of; 0: no tile
  std::uint32_t edges_count;
};

struct TilesOfRange {
  ItemPass pass;
  const std::uint64_t* scan;
  __device__ std::uint64_t operator()(std::uint64_t r) const {
    const ItemRange range = pass.ranges[r];
    return (scan[range.first + range.count] - scan[range.first] + tile_edges - 1) / tile_edges;
  }
};

struct ItemsOfRange {
  ItemPass pass;
  __device__ std::uint64_t operator()(std::uint64_t r) const { return pass.ranges[r].count; }
};

// At least as many as there are tiles.
inline std::uint64_t most_tiles(std::uint64_t edges, std::uint64_t ranges) {
  return edges / tile_edges + ranges;
}

// The room of visit_workspace_bytes.
struct VisitLayout : Workspace {
  VisitLayout(void* workspace, std::uint64_t vertices, std::uint64_t edges, std::uint64_t ranges)
      : Workspace(workspace),
        places(take<Vertex>(bitmap_words(vertices) + 1)),
        values(take<std::uint64_t>(2)),
        places_scan(*this, bitmap_words(vertices)),
        ranges_scan(*this, ranges),
        before(take<std::uint64_t>(ranges + 1)),
        tiles(take<VisitTile>(most_tiles(edges, ranges))) {}
  Vertex* places;         // in a list, of each word's first
  std::uint64_t* values;  // a step's own
  ExclusiveScan<Vertex> places_scan;
  ExclusiveScan<std::uint64_t> ranges_scan;
  std::uint64_t* before;  // each range: tiles or items
  VisitTile* tiles;
};

static __global__ void cut_tiles(ItemPass pass, const std::uint64_t* __restrict__ tiles_before,
                                 const std::uint64_t* __restrict__ scan, VisitTile* tiles,
                                 std::uint64_t most) {
  const std::uint64_t t = thread_index();
  if (t >= most) return;
  if (t >= tiles_before[pass.ranges_count]) {
    tiles[t].items_count = 0;
    return;
  }
  const std::uint64_t r = last_at_most(tiles_before, pass.ranges_count, t);
  const ItemRange range = pass.ranges[r];
  const std::uint64_t items_end = range.first + range.count;
  const std::uint64_t first = scan[range.first] + (t - tiles_before[r]) * tile_edges;
  const std::uint64_t end = min(first + tile_edges, scan[items_end]);
  const std::uint64_t item = last_at_most(scan, items_end, first, range.first);
  const std::uint64_t last_item = last_at_most(scan, items_end, end - 1, item);
  tiles[t] = {first, item, static_cast<std::uint32_t>(last_item - item + 1),
              static_cast<std::uint32_t>(end - first)};
}

template <typename Visitor>
__global__ void __launch_bounds__(block_threads)
    visit_tiles(const VisitTile* __restrict__ tiles, std::uint64_t most, WorkItems items,
                const Vertex* __restrict__ neighbours, Visitor visitor) {
  using Scan = cub::BlockScan<int, block_threads>;
  __shared__ typename Scan::TempStorage storage;
  __shared__ int owners[tile_edges];  // of each edge: its item, from the tile's first

  for (std::uint64_t t = blockIdx.x; t < most; t += gridDim.x) {
    const VisitTile tile = tiles[t];
    if (tile.items_count == 0) continue;

    // 1. whose edge is whose
    for (int i = threadIdx.x; i < tile_edges; i += block_threads) owners[i] = 0;
    __syncthreads();
    for (unsigned i = threadIdx.x + 1; i < tile.items_count; i += block_threads) {
      owners[items.scan[tile.first_item + i] - tile.first] = static_cast<int>(i);
    }
    __syncthreads();
    int own[thread_edges];
#pragma unroll
    for (int k = 0; k < thread_edges; ++k) own[k] = owners[threadIdx.x * thread_edges + k];
    Scan(storage).InclusiveScan(own, own, cuda::maximum<int>{});
#pragma unroll
    for (int k = 0; k < thread_edges; ++k) owners[threadIdx.x * thread_edges + k] = own[k];
    __syncthreads();

    // 2. read the neighbours, and what is known of each
    Vertex ids[thread_edges];
    typename Visitor::Seen seen[thread_edges];
#pragma unroll
    for (int k = 0; k < thread_edges; ++k) {
      const unsigned at = k * block_threads + threadIdx.x;
      if (at >= tile.edges_count) continue;
      const std::uint64_t item = tile.first_item + owners[at];
      ids[k] = __ldg(neighbours + items.begins[item] + (tile.first + at - items.scan[item]));
    }
#pragma unroll
    for (int k = 0; k < thread_edges; ++k) {
      if (k * block_threads + threadIdx.x < tile.edges_count) seen[k] = visitor.look(ids[k]);
    }

    // 3. visit
#pragma unroll
    for (int k = 0; k < thread_edges; ++k) {
      const unsigned at = k * block_threads + threadIdx.x;
      if (at >= tile.edges_count) continue;
      const std::uint64_t item = tile.first_item + owners[at];
      visitor.visit(item, items.begins[item] + (tile.first + at - items.scan[item]), ids[k],
                    seen[k]);
    }
    __syncthreads();
  }
}

// For every edge of the pass: visitor.visit(item, edge, neighbour, visitor.look(neighbour)), a
// Visitor::Seen.
template <typename Visitor>
void visit_edges(const WorkItems& items, const ItemPass& pass, const Vertex* neighbours,
                 const VisitLayout& layout, Visitor visitor, Stream stream) {
  if (pass.edges == 0) return;
  const std::uint64_t most = most_tiles(pass.edges, pass.ranges_count);
  layout.ranges_scan.run(pass.ranges_count, TilesOfRange{pass, items.scan}, layout.before, stream);
  launch_threads(cut_tiles, most, stream, pass, layout.before, items.scan, layout.tiles, most);
  const std::uint64_t blocks = pass.blocks == 0 ? most : min(most, std::uint64_t{pass.blocks});
  launch_threads(visit_tiles<Visitor>, blocks * block_threads, stream, layout.tiles, most, items,
                 neighbours, visitor);
}

// Thread i of all that there are takes items i, i + threads, ... of the pass; whole warps come.
template <typename Visitor>
__global__ void __launch_bounds__(block_threads)
    take_items(ItemPass pass, const std::uint64_t* __restrict__ items_before, Visitor visitor) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * block_threads;
  const std::uint64_t count = items_before[pass.ranges_count];
  for (std::uint64_t i = thread_index(); i - threadIdx.x % 32 < count; i += threads) {
    std::uint64_t item = ~0ull;
    if (i < count) {
      const std::uint64_t r = last_at_most(items_before, pass.ranges_count, i);
      item = pass.ranges[r].first + (i - items_before[r]);
    }
    visitor.take(item, item != ~0ull);
  }
}

// visitor.take(item, there) for every item of the pass, in whole warps: `there` is false for those
// threads that have none.
template <typename Visitor>
void visit_items(const ItemPass& pass, const VisitLayout& layout, Visitor visitor, Stream stream) {
  if (pass.items == 0) return;
  layout.ranges_scan.run(pass.ranges_count, ItemsOfRange{pass}, layout.before, stream);
  const std::uint64_t blocks = (pass.items + block_threads - 1) / block_threads;
  launch_threads(
      take_items<Visitor>,
      (pass.blocks == 0 ? blocks : min(blocks, std::uint64_t{pass.blocks})) * block_threads, stream,
      pass, layout.before, visitor);
}

// True for the one thread that sets the bit first.
__device__ inline bool set_bit(std::uint64_t* bits, std::uint64_t i) {
  auto* word = reinterpret_cast<unsigned long long*>(bits + i / 64);
  const unsigned long long bit = 1ull << i % 64;
  if ((__ldcg(word) & bit) != 0) return false;
  return (atomicOr(word, bit) & bit) == 0;
}

template <typename Is>
__global__ void __launch_bounds__(block_threads)
    fill_bits(std::uint64_t count, std::uint32_t* halves, Is is) {
  const std::uint64_t i = thread_index();
  const unsigned bits = __ballot_sync(0xFFFF'FFFF, i < count && is(i));
  if (i % 32 == 0 && i / 32 < 2 * bitmap_words(count)) halves[i / 32] = bits;
}

// The bits of [0, count) for which is(i) holds; those past the last are 0.
template <typename Is>
void write_bits(std::uint64_t count, std::uint64_t* bits, Is is, Stream stream) {
  launch_threads(fill_bits<Is>, bitmap_words(count) * 64, stream, count,
                 reinterpret_cast<std::uint32_t*>(bits), is);
}

}  // namespace holdall::kernels::gpu
