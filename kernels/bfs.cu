#include <cub/block/block_scan.cuh>

#include "kernels/gpu.hpp"
#include "kernels/on_gpu.cuh"
#include "kernels/search.hpp"

namespace holdall::kernels::gpu {
namespace {

__global__ void start(BfsState state, std::uint32_t source) {
  const std::uint64_t v = thread_index();
  if (v >= state.vertices) return;
  state.parents[v] = v == source ? source : no_vertex;
  if (v == source) state.frontier[0] = source;
  if (v % 64 == 0) {
    const std::uint64_t bits = source / 64 == v / 64 ? std::uint64_t{1} << source % 64 : 0;
    state.reached[v / 64] = state.settled[v / 64] = bits;
  }
}

// -- Expand. Edges are numbered through all items (items.scan); a block takes a tile of such
// numbers that lies within one range. It marks in shared memory where items start, so that each
// thread knows its edges' items and a warp reads neighbours side by side.

constexpr int thread_edges = 8;
constexpr int tile_edges = block_threads * thread_edges;

struct Tile {
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

// At least as many as there are tiles.
std::uint64_t most_tiles(std::uint64_t edges, std::uint64_t ranges) {
  return edges / tile_edges + ranges;
}

__global__ void cut_tiles(ItemPass pass, const std::uint64_t* __restrict__ tiles_before,
                          const std::uint64_t* __restrict__ scan, Tile* tiles, std::uint64_t most) {
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

__global__ void __launch_bounds__(block_threads)
    expand_tile(const Tile* __restrict__ tiles, WorkItems items, BfsState state) {
  using Scan = cub::BlockScan<int, block_threads>;
  __shared__ typename Scan::TempStorage storage;
  __shared__ int owners[tile_edges];  // of each edge: its item, from the tile's first

  const Tile tile = tiles[blockIdx.x];
  if (tile.items_count == 0) return;

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

  // 2. read the neighbours and whether they have been reached
  std::uint32_t ids[thread_edges];
  bool fresh[thread_edges];
#pragma unroll
  for (int k = 0; k < thread_edges; ++k) {
    const unsigned at = k * block_threads + threadIdx.x;
    fresh[k] = at < tile.edges_count;
    if (!fresh[k]) continue;
    const std::uint64_t item = tile.first_item + owners[at];
    ids[k] = __ldg(state.neighbours + items.begins[item] + (tile.first + at - items.scan[item]));
  }
#pragma unroll
  for (int k = 0; k < thread_edges; ++k) {
    if (!fresh[k]) continue;
    fresh[k] = (__ldcg(state.reached + ids[k] / 64) >> ids[k] % 64 & 1) == 0;
  }

  // 3. the first to set the bit is the parent
#pragma unroll
  for (int k = 0; k < thread_edges; ++k) {
    if (!fresh[k]) continue;
    auto* word = reinterpret_cast<unsigned long long*>(state.reached + ids[k] / 64);
    const unsigned long long bit = 1ull << ids[k] % 64;
    if ((atomicOr(word, bit) & bit) != 0) continue;
    state.parents[ids[k]] =
        items.vertices[tile.first_item + owners[k * block_threads + threadIdx.x]];
  }
}

// -- The next frontier: the bits that are new, in order.

struct NewInWord {
  const std::uint64_t* reached;
  const std::uint64_t* settled;
  __device__ std::uint32_t operator()(std::uint64_t word) const {
    return __popcll(reached[word] & ~settled[word]);
  }
};

// A warp takes 32 words: it writes them one after the other, a bit a thread, so that dense words
// are written side by side.
__global__ void write_frontier(BfsState state, const std::uint32_t* __restrict__ places,
                               std::uint64_t words) {
  constexpr unsigned all = 0xFFFF'FFFF;
  const std::uint64_t own = thread_index();
  std::uint64_t bits = 0;
  if (own < words) {
    bits = state.reached[own] & ~state.settled[own];
    if (bits != 0) state.settled[own] = state.reached[own];
  }
  const unsigned lane = threadIdx.x % 32;
  for (unsigned some = __ballot_sync(all, bits != 0); some != 0; some &= some - 1) {
    const int from = __ffs(static_cast<int>(some)) - 1;
    const std::uint64_t word = __shfl_sync(all, own, from);
    const std::uint64_t its = __shfl_sync(all, bits, from);
    for (unsigned bit = lane; bit < 64; bit += 32) {
      if ((its >> bit & 1) == 0) continue;
      const int earlier = __popcll(its & ((std::uint64_t{1} << bit) - 1));
      state.frontier[places[word] + std::uint64_t{static_cast<unsigned>(earlier)}] =
          static_cast<std::uint32_t>(word * 64 + bit);
    }
  }
}

struct Layout : Workspace {
  Layout(void* workspace, std::uint64_t vertices, std::uint64_t edges, std::uint64_t ranges)
      : Workspace(workspace),
        places(take<std::uint32_t>(bitmap_words(vertices) + 1)),
        places_scan(*this, bitmap_words(vertices)),
        tiles_scan(*this, ranges),
        tiles_before(take<std::uint64_t>(ranges + 1)),
        tiles(take<Tile>(most_tiles(edges, ranges))) {}
  std::uint32_t* places;  // in the frontier, of each word's first
  ExclusiveScan<std::uint32_t> places_scan;
  ExclusiveScan<std::uint64_t> tiles_scan;
  std::uint64_t* tiles_before;
  Tile* tiles;
};

}  // namespace

Bytes bfs_workspace_bytes(std::uint64_t vertices, std::uint64_t pass_edges,
                          std::uint64_t pass_ranges) {
  return Layout(nullptr, vertices, pass_edges, pass_ranges).taken();
}

void bfs_start(const BfsState& state, std::uint32_t source, Stream stream) {
  const OnDeviceOf device(stream);
  launch_threads(start, state.vertices, stream, state, source);
}

void bfs_expand(const BfsState& state, const WorkItems& items, const ItemPass& pass,
                Stream stream) {
  const OnDeviceOf device(stream);
  if (pass.edges == 0) return;
  const Layout layout(state.workspace, state.vertices, pass.edges, pass.ranges_count);
  const std::uint64_t most = most_tiles(pass.edges, pass.ranges_count);
  layout.tiles_scan.run(pass.ranges_count, TilesOfRange{pass, items.scan}, layout.tiles_before,
                        stream);
  launch_threads(cut_tiles, most, stream, pass, layout.tiles_before, items.scan, layout.tiles,
                 most);
  launch_threads(expand_tile, most * block_threads, stream, layout.tiles, items, state);
}

std::uint64_t bfs_next_frontier(const BfsState& state, Stream stream) {
  const OnDeviceOf device(stream);
  const std::uint64_t words = bitmap_words(state.vertices);
  const Layout layout(state.workspace, state.vertices, 0, 0);
  layout.places_scan.run(words, NewInWord{state.reached, state.settled}, layout.places, stream);
  launch_threads(write_frontier, words, stream, state, layout.places, words);
  return read_back(layout.places + words, stream);
}

}  // namespace holdall::kernels::gpu
