#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include "kernels/gpu.hpp"
#include "kernels/ids_on_gpu.cuh"
#include "kernels/on_gpu.cuh"
#include "kernels/search.hpp"

namespace holdall::kernels::gpu {
namespace {

// -- Pull. A block takes a tile of edges that lies within one span and starts, but for the span's
// first, where loads of 16 bytes are aligned. Its threads take a few edges each, in order, and sums
// that several threads have parts of are put together by a scan over the block; lists that reach
// out of the tile are added to atomically.

constexpr int thread_edges = 16;
constexpr int tile_edges = block_threads * thread_edges;

struct Tile {
  std::uint64_t first;  // edge
  std::uint32_t count;  // of edges; 0: no tile
  Vertex first_vertex;  // that owns the first edge
  Vertex last_vertex;   // that owns the last
};

// `skew`: edge e lies at a 16-byte boundary if e + skew is a multiple of group_ids.
struct TilesOfSpan {
  const EdgeSpan* spans;
  std::uint64_t skew;
  __device__ std::uint64_t operator()(std::uint64_t s) const {
    const EdgeSpan span = spans[s];
    if (span.count == 0) return 0;
    const std::uint64_t first = span.first + skew;
    return (first + span.count - 1) / tile_edges - first / tile_edges + 1;
  }
};

// At least as many as there are tiles.
std::uint64_t most_tiles(std::uint64_t edges, std::uint64_t spans) {
  return edges / tile_edges + 2 * spans;
}

__global__ void cut_tiles(EdgePass pass, const std::uint64_t* __restrict__ tiles_before,
                          std::uint64_t skew, const std::uint64_t* __restrict__ offsets,
                          std::uint64_t vertices, Tile* tiles, std::uint64_t most) {
  const std::uint64_t t = thread_index();
  if (t >= most) return;
  if (t >= tiles_before[pass.spans_count]) {
    tiles[t].count = 0;
    return;
  }
  const std::uint64_t s = last_at_most(tiles_before, pass.spans_count, t);
  const EdgeSpan span = pass.spans[s];
  const std::uint64_t start =
      ((span.first + skew) / tile_edges + (t - tiles_before[s])) * tile_edges;
  const std::uint64_t first = max(start, span.first + skew) - skew;
  const std::uint64_t end = min(start + tile_edges - skew, span.first + span.count);
  const std::uint64_t v = last_at_most(offsets, vertices, first);
  tiles[t] = {first, static_cast<std::uint32_t>(end - first), static_cast<Vertex>(v),
              static_cast<Vertex>(last_at_most(offsets, vertices, end - 1, v))};
}

// A part of a sum that goes on in the next thread; `cut`: a list ended before it.
struct Carry {
  bool cut;
  float sum;
};
struct Join {
  __device__ Carry operator()(Carry a, Carry b) const {
    return {a.cut || b.cut, b.cut ? b.sum : a.sum + b.sum};
  }
};

__global__ void __launch_bounds__(block_threads)
    pull_tile(const Tile* __restrict__ tiles, std::uint64_t skew,
              const std::uint64_t* __restrict__ offsets, const Vertex* __restrict__ neighbours,
              const float* __restrict__ contributions, float* sums) {
  using Scan = cub::BlockScan<Carry, block_threads>;
  __shared__ typename Scan::TempStorage storage;

  const Tile tile = tiles[blockIdx.x];
  if (tile.count == 0) return;
  // Positions are edges plus skew here, so that multiples of group_ids are aligned.
  const std::uint64_t tile_first = tile.first + skew;
  const std::uint64_t tile_end = tile_first + tile.count;
  const std::uint64_t start =
      tile_first / tile_edges * tile_edges + threadIdx.x * std::uint64_t{thread_edges};
  const std::uint64_t first = max(start, tile_first);
  const std::uint64_t end = min(start + thread_edges, tile_end);
  const bool idle = first >= end;

  // 1. load: a whole group by 16 bytes at a time
  Vertex ids[thread_edges];
  if (first == start && end == start + thread_edges) {
#pragma unroll
    for (int k = 0; k < thread_edges; k += group_ids) {
      const IdGroup group = load_group(neighbours + (start - skew) + k);
#pragma unroll
      for (int i = 0; i < group_ids; ++i) ids[k + i] = group.ids[i];
    }
  } else {
#pragma unroll
    for (int k = 0; k < thread_edges; ++k) {
      const std::uint64_t at = start + k;
      if (at >= first && at < end) ids[k] = neighbours[at - skew];
    }
  }
  float values[thread_edges];
#pragma unroll
  for (int k = 0; k < thread_edges; ++k) {
    const std::uint64_t at = start + k;
    values[k] = at >= first && at < end ? __ldg(contributions + ids[k]) : 0.0F;
  }

  // 2. add up list by list; the first waits for its part from the threads before
  std::uint64_t v = tile.first_vertex;
  std::uint64_t head = v;
  std::uint64_t list_end = 0;
  float head_sum = 0.0F;
  Carry tail = {false, 0.0F};
  if (!idle) {
    v = head = last_at_most(offsets, tile.last_vertex + std::uint64_t{1}, first - skew, v);
    list_end = offsets[v + 1] + skew;
#pragma unroll
    for (int k = 0; k < thread_edges; ++k) {
      const std::uint64_t at = start + k;
      if (at < first || at >= end) continue;
      if (at == list_end) {
        if (tail.cut) {
          sums[v] += tail.sum;
        } else {
          head_sum = tail.sum;
        }
        tail = {true, 0.0F};
        list_end = offsets[++v + 1] + skew;
        if (list_end == at) {  // an empty list, maybe the first of many
          v = last_at_most(offsets, tile.last_vertex + std::uint64_t{1}, at - skew, v);
          list_end = offsets[v + 1] + skew;
        }
      }
      tail.sum += values[k];
    }
    if (list_end == end) {  // ends with the thread's edges
      if (tail.cut) {
        sums[v] += tail.sum;
      } else {
        head_sum = tail.sum;
      }
      tail = {true, 0.0F};
    }
  }

  // 3. across threads and tiles
  Carry before;
  Scan(storage).ExclusiveScan(tail, before, Carry{false, 0.0F}, Join{});
  if (idle) return;
  if (tail.cut) {
    const float sum = before.sum + head_sum;
    if (offsets[head] >= tile.first) {
      sums[head] += sum;
    } else {
      atomicAdd(sums + head, sum);
    }
  }
  if (end == tile_end && list_end > end) {
    atomicAdd(sums + v, tail.cut ? tail.sum : before.sum + tail.sum);
  }
}

// -- The vertices.

__global__ void fill_scores(PagerankState state) {
  const std::uint64_t v = thread_index();
  if (v < state.vertices) state.scores[v] = 1.0F / static_cast<float>(state.in_all());
}

__global__ void contribute(PagerankState state) {
  const std::uint64_t v = thread_index();
  if (v >= state.vertices) return;
  const std::uint64_t degree = state.out_offsets[v + 1] - state.out_offsets[v];
  state.contributions[state.first + v] =
      degree == 0 ? 0.0F : state.scores[v] / static_cast<float>(degree);
  state.sums[v] = 0.0F;
}

// Always as many, so that the error is added up in the same order whatever the GPU.
constexpr int error_blocks = 1024;

__global__ void __launch_bounds__(block_threads) score(PagerankState state, double* errors) {
  using Reduce = cub::BlockReduce<double, block_threads>;
  __shared__ typename Reduce::TempStorage storage;
  const float base = (1.0F - state.damping) / static_cast<float>(state.in_all());
  double error = 0;
  for (std::uint64_t v = thread_index(); v < state.vertices; v += error_blocks * block_threads) {
    const float score = base + state.damping * state.sums[v];
    error += fabs(static_cast<double>(score) - static_cast<double>(state.scores[v]));
    state.scores[v] = score;
  }
  error = Reduce(storage).Sum(error);
  if (threadIdx.x == 0) errors[blockIdx.x] = error;
}

__global__ void __launch_bounds__(block_threads)
    add_errors(const double* __restrict__ errors, double* total) {
  using Reduce = cub::BlockReduce<double, block_threads>;
  __shared__ typename Reduce::TempStorage storage;
  double error = 0;
  for (int i = threadIdx.x; i < error_blocks; i += block_threads) error += errors[i];
  error = Reduce(storage).Sum(error);
  if (threadIdx.x == 0) *total = error;
}

struct Layout : Workspace {
  Layout(void* workspace, std::uint64_t edges, std::uint64_t spans)
      : Workspace(workspace), scan(*this, spans) {
    tiles_before = take<std::uint64_t>(spans + 1);
    tiles = take<Tile>(most_tiles(edges, spans));
  }
  double* error = take<double>(1);
  double* errors = take<double>(error_blocks);
  ExclusiveScan<std::uint64_t> scan;
  std::uint64_t* tiles_before;
  Tile* tiles;
};

}  // namespace

Bytes pagerank_workspace_bytes(std::uint64_t pass_edges, std::uint64_t pass_spans) {
  return Layout(nullptr, pass_edges, pass_spans).taken();
}

void pagerank_start(const PagerankState& state, Stream stream) {
  const OnDeviceOf device(stream);
  launch_threads(fill_scores, state.vertices, stream, state);
}

void pagerank_begin(const PagerankState& state, Stream stream) {
  const OnDeviceOf device(stream);
  launch_threads(contribute, state.vertices, stream, state);
}

void pagerank_pull(const PagerankState& state, const EdgePass& pass, Stream stream) {
  const OnDeviceOf device(stream);
  if (pass.edges == 0) return;
  const Layout layout(state.workspace, pass.edges, pass.spans_count);
  const std::uint64_t edge_skew = ids_past_group(state.in_neighbours);
  const std::uint64_t most = most_tiles(pass.edges, pass.spans_count);
  layout.scan.run(pass.spans_count, TilesOfSpan{pass.spans, edge_skew}, layout.tiles_before,
                  stream);
  launch_threads(cut_tiles, most, stream, pass, layout.tiles_before, edge_skew, state.in_offsets,
                 state.vertices, layout.tiles, most);
  launch_threads(pull_tile, most * block_threads, stream, layout.tiles, edge_skew, state.in_offsets,
                 state.in_neighbours, state.contributions, state.sums);
}

void pagerank_finish(const PagerankState& state, Stream stream) {
  const OnDeviceOf device(stream);
  const Layout layout(state.workspace, 0, 0);
  launch_threads(score, error_blocks * block_threads, stream, state, layout.errors);
  launch_threads(add_errors, block_threads, stream, layout.errors, layout.error);
}

double pagerank_error(const PagerankState& state, Stream stream) {
  const OnDeviceOf device(stream);
  return read_back(Layout(state.workspace, 0, 0).error, stream);
}

}  // namespace holdall::kernels::gpu
