#include "kernels/gpu.hpp"
#include "kernels/on_gpu.cuh"
#include "kernels/search.hpp"

namespace holdall::kernels::gpu {
namespace {

// What the kernels below know of a frontier.
struct Lists {
  Frontier frontier;
  const std::uint64_t* offsets;
  ChunkGrid grid;

  __device__ ChunkSpan chunks_of(std::uint64_t i) const {
    const Vertex v = frontier.vertices[i];
    const std::uint64_t first = offsets[v];
    return grid.chunks_of({first, offsets[v + std::uint64_t{1}] - first});
  }
};

struct ItemsOfVertex {
  Lists lists;
  __device__ std::uint64_t operator()(std::uint64_t i) const { return lists.chunks_of(i).count; }
};

struct EdgesOfItem {
  Lists lists;
  WorkItems items;
  const std::uint64_t* total;
  __device__ std::uint64_t operator()(std::uint64_t item) const {
    if (item >= *total) return 0;
    const std::uint64_t begin = items.begins[item];
    const std::uint64_t chunk_end = lists.grid.first_edge(lists.grid.chunk_of(begin) + 1);
    return min(lists.offsets[items.vertices[item] + std::uint64_t{1}], chunk_end) - begin;
  }
};

// Calls `one(i, k)` for each of the `count` things that thread i of the warp has. Threads with
// several are helped by the whole warp.
template <typename One>
__device__ void for_each_in_warp(std::uint64_t i, std::uint64_t count, One one) {
  constexpr unsigned all = 0xFFFF'FFFF;
  if (count == 1) one(i, 0);
  const unsigned lane = threadIdx.x % 32;
  for (unsigned many = __ballot_sync(all, count > 1); many != 0; many &= many - 1) {
    const int from = __ffs(static_cast<int>(many)) - 1;
    const std::uint64_t its = __shfl_sync(all, i, from);
    const std::uint64_t its_count = __shfl_sync(all, count, from);
    for (std::uint64_t k = lane; k < its_count; k += 32) one(its, k);
  }
}

__global__ void write_items(Lists lists, WorkItems items, std::uint64_t* total) {
  const std::uint64_t i = thread_index();
  if (i == 0) *total = items.scan[lists.frontier.count];
  const std::uint64_t count = i < lists.frontier.count ? lists.chunks_of(i).count : 0;
  for_each_in_warp(i, count, [&](std::uint64_t its, std::uint64_t k) {
    const Vertex v = lists.frontier.vertices[its];
    const std::uint64_t first = lists.offsets[v];
    const std::uint64_t at = items.scan[its] + k;
    items.vertices[at] = v;
    items.begins[at] = max(first, lists.grid.first_edge(lists.grid.chunk_of(first) + k));
  });
}

// A thread for each bit of the bitmap, and one for the end of demand.items.
__global__ void write_chunks(ChunkGrid grid, WorkItems items, ChunkDemand demand,
                             const std::uint64_t* total) {
  const std::uint64_t c = thread_index();
  const std::uint64_t chunks = grid.chunks();
  bool demanded = false;
  if (c < chunks) {
    const std::uint64_t first = first_at_least(items.begins, *total, grid.first_edge(c));
    const std::uint64_t last = first_at_least(items.begins, *total, grid.first_edge(c + 1));
    demand.items[c] = first;
    demand.edges[c] = items.scan[last] - items.scan[first];
    demanded = last > first;
  } else if (c == chunks) {
    demand.items[c] = *total;
  }
  const unsigned bits = __ballot_sync(0xFFFF'FFFF, demanded);
  if (c % 32 == 0 && c / 32 < 2 * bitmap_words(chunks)) {
    reinterpret_cast<std::uint32_t*>(demand.bitmap)[c / 32] = bits;
  }
}

__global__ void clear_words(std::uint64_t* words, std::uint64_t count) {
  const std::uint64_t i = thread_index();
  if (i < count) words[i] = 0;
}

// Neighbours in the frontier mostly lie in one chunk, so look before setting: at the thread before,
// and at the bit.
__global__ void mark_chunks(Lists lists, std::uint64_t* bitmap) {
  const std::uint64_t i = thread_index();
  const ChunkSpan chunks = i < lists.frontier.count ? lists.chunks_of(i) : ChunkSpan{};
  const std::uint64_t before =
      __shfl_up_sync(0xFFFF'FFFF, chunks.count == 1 ? chunks.first : ~0ull, 1);
  const bool told = threadIdx.x % 32 != 0 && chunks.count == 1 && before == chunks.first;
  for_each_in_warp(i, told ? 0 : chunks.count, [&](std::uint64_t its, std::uint64_t k) {
    const std::uint64_t c = lists.chunks_of(its).first + k;
    auto* word = reinterpret_cast<unsigned long long*>(bitmap + c / 64);
    const unsigned long long bit = 1ull << c % 64;
    if ((__ldcg(word) & bit) == 0) atomicOr(word, bit);
  });
}

struct Layout : Workspace {
  Layout(void* workspace, std::uint64_t most_items)
      : Workspace(workspace), total(take<std::uint64_t>(1)), scan(*this, most_items) {}
  std::uint64_t* total;  // items
  ExclusiveScan<std::uint64_t> scan;
};

}  // namespace

Bytes demand_workspace_bytes(std::uint64_t vertices, std::uint64_t chunks) {
  return Layout(nullptr, vertices + chunks).taken();
}

void demand_of_frontier(const Frontier& frontier, const std::uint64_t* offsets,
                        const ChunkGrid& grid, const WorkItems& items, const ChunkDemand& demand,
                        void* workspace, Stream stream) {
  const OnDeviceOf device(stream);
  const std::uint64_t most = frontier.count + grid.chunks();
  const Layout layout(workspace, most);
  const Lists lists{frontier, offsets, grid};

  // 1. where each vertex's items go, 2. the items, 3. the edges in each, 4. what each chunk has
  layout.scan.run(frontier.count, ItemsOfVertex{lists}, items.scan, stream);
  launch_threads(write_items, frontier.count + 1, stream, lists, items, layout.total);
  layout.scan.run(most, EdgesOfItem{lists, items, layout.total}, items.scan, stream);
  launch_threads(write_chunks, bitmap_words(grid.chunks()) * 64 + 1, stream, grid, items, demand,
                 layout.total);
}

void chunks_of_frontier(const Frontier& frontier, const std::uint64_t* offsets,
                        const ChunkGrid& grid, std::uint64_t* bitmap, Stream stream) {
  const OnDeviceOf device(stream);
  const std::uint64_t words = bitmap_words(grid.chunks());
  launch_threads(clear_words, words, stream, bitmap, words);
  launch_threads(mark_chunks, frontier.count, stream, Lists{frontier, offsets, grid}, bitmap);
}

}  // namespace holdall::kernels::gpu
