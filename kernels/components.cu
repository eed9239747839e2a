#include <algorithm>
#include <cub/block/block_reduce.cuh>
#include <vector>

#include "kernels/gpu.hpp"
#include "kernels/ids_on_gpu.cuh"
#include "kernels/most_frequent.hpp"
#include "kernels/visit.cuh"

namespace holdall::kernels::gpu {
namespace {

constexpr std::uint64_t device_threads = 132 * 8 * block_threads;  // all at once

__global__ void start(ComponentsState state) {
  const std::uint64_t v = thread_index();
  if (v < state.vertices) state.labels[v] = static_cast<Vertex>(v);
}

struct Every {
  __device__ bool operator()(std::uint64_t) const { return true; }
};
struct Outside {
  const Vertex* labels;
  Vertex label;
  __device__ bool operator()(std::uint64_t v) const { return labels[v] != label; }
};

// Joins the trees of two vertices, given their labels: the greater root becomes a child of the
// other.
__device__ void join(Vertex* labels, Vertex a, Vertex b) {
  while (a != b) {
    const Vertex high = max(a, b);
    const Vertex low = min(a, b);
    const Vertex was = exchange_if(labels + high, high, low);
    if (was == high || was == low) return;
    a = __ldcg(labels + was);
    b = __ldcg(labels + low);
  }
}

// -- The hub: the most edges and, of several vertices that have as many, the smallest.

struct Best {
  unsigned long long edges;
  unsigned long long vertex;
};

__global__ void __launch_bounds__(block_threads) find_most(ComponentsState state, Best* best) {
  using Reduce = cub::BlockReduce<unsigned long long, block_threads>;
  __shared__ typename Reduce::TempStorage storage;
  unsigned long long most = 0;
  const std::uint64_t threads = std::uint64_t{gridDim.x} * block_threads;
  for (std::uint64_t v = thread_index(); v < state.vertices; v += threads)
    most = max(most, static_cast<unsigned long long>(state.offsets[v + 1] - state.offsets[v]));
  most = Reduce(storage).Reduce(most, cuda::maximum<unsigned long long>{});
  if (threadIdx.x == 0) atomicMax(&best->edges, most);
}

__global__ void __launch_bounds__(block_threads) find_hub(ComponentsState state, Best* best) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * block_threads;
  for (std::uint64_t v = thread_index(); v < state.vertices; v += threads) {
    if (state.offsets[v + 1] - state.offsets[v] != best->edges) continue;
    atomicMin(&best->vertex, static_cast<unsigned long long>(v));
    return;  // those that follow are greater
  }
}

// -- Start with a component.

__global__ void find_first(const std::uint64_t* __restrict__ bits, std::uint64_t words,
                           unsigned long long* first) {
  const std::uint64_t w = thread_index();
  if (w >= words || bits[w] == 0 || w * 64 >= __ldcg(first)) return;
  atomicMin(first, w * 64 + static_cast<unsigned>(__ffsll(static_cast<long long>(bits[w])) - 1));
}

__global__ void start_with(ComponentsState state, const std::uint64_t* __restrict__ joined,
                           const unsigned long long* __restrict__ first) {
  const std::uint64_t v = thread_index();
  if (v >= state.vertices) return;
  state.labels[v] = static_cast<Vertex>((joined[v / 64] >> v % 64 & 1) != 0 ? *first : v);
}

// -- Sample. A block takes vertices that own the edges of one span.

__global__ void __launch_bounds__(block_threads)
    sample(ComponentsState state, EdgePass pass, std::uint32_t rounds) {
  for (std::uint64_t s = 0; s < pass.spans_count; ++s) {
    const EdgeSpan span = pass.spans[s];
    if (span.count == 0) continue;
    __shared__ std::uint64_t ends[2];  // the first and the last owner
    __syncthreads();
    if (threadIdx.x < 2) {
      ends[threadIdx.x] = last_at_most(state.offsets, state.vertices,
                                       threadIdx.x == 0 ? span.first : span.first + span.count - 1);
    }
    __syncthreads();
    const std::uint64_t end = span.first + span.count;
    for (std::uint64_t v = ends[0] + thread_index(); v <= ends[1];
         v += std::uint64_t{gridDim.x} * block_threads) {
      const std::uint64_t begin = state.offsets[v];
      const std::uint64_t past = min(min(begin + rounds, state.offsets[v + 1]), end);
      for (std::uint64_t e = max(begin, span.first); e < past; ++e) {
        const Vertex to = __ldg(state.neighbours + e);
        join(state.labels, __ldcg(state.labels + v), __ldcg(state.labels + to));
      }
    }
  }
}

__global__ void flatten(ComponentsState state) {
  const std::uint64_t v = thread_index();
  if (v >= state.vertices) return;
  Vertex root = __ldcg(state.labels + v);
  for (Vertex next = __ldcg(state.labels + root); next != root;
       next = __ldcg(state.labels + root)) {
    root = next;
  }
  state.labels[v] = root;
}

__global__ void join_others(ComponentsState state, const Vertex* __restrict__ others) {
  const std::uint64_t v = thread_index();
  if (v >= state.vertices) return;
  const Vertex other = others[v];
  if (other != v) join(state.labels, __ldcg(state.labels + v), __ldcg(state.labels + other));
}

__global__ void take_sample(ComponentsState state, Vertex* to, std::uint64_t count) {
  const std::uint64_t i = thread_index();
  if (i < count) to[i] = state.labels[sampled_vertex(i, state.vertices)];
}

struct Link {
  using Seen = Vertex;
  Vertex* labels;
  WorkItems items;
  __device__ Seen look(Vertex to) const { return __ldcg(labels + to); }
  __device__ void visit(std::uint64_t item, std::uint64_t, Vertex, Seen its) const {
    join(labels, __ldcg(labels + items.vertices[item]), its);
  }
};

struct Send {
  using Seen = Vertex;
  Vertex* labels;
  std::uint64_t* bits;
  WorkItems items;
  __device__ Seen look(Vertex to) const { return __ldcg(labels + to); }
  __device__ void visit(std::uint64_t item, std::uint64_t, Vertex to, Seen its) const {
    const Vertex label = __ldcg(labels + items.vertices[item]);
    if (label < its && lower(labels + to, label) > label) set_bit(bits, to);
  }
};

}  // namespace

void components_start(const ComponentsState& state, Stream stream) {
  const OnDeviceOf device(stream);
  launch_threads(start, state.vertices, stream, state);
  write_bits(state.vertices, state.bits, Every{}, stream);
}

Hub components_hub(const ComponentsState& state, Stream stream) {
  const OnDeviceOf device(stream);
  const VisitLayout layout(state.workspace, state.vertices, 0, 0);
  auto* const best = reinterpret_cast<Best*>(layout.values);
  check(cudaMemsetAsync(&best->edges, 0, sizeof best->edges, stream.cuda()));
  check(cudaMemsetAsync(&best->vertex, 0xFF, sizeof best->vertex, stream.cuda()));
  launch_threads(find_most, std::min(state.vertices, device_threads), stream, state, best);
  launch_threads(find_hub, std::min(state.vertices, device_threads), stream, state, best);
  const Best found = read_back(best, stream);
  return {static_cast<Vertex>(found.vertex), found.edges};
}

void components_start_with(const ComponentsState& state, const std::uint64_t* joined,
                           Stream stream) {
  const OnDeviceOf device(stream);
  const VisitLayout layout(state.workspace, state.vertices, 0, 0);
  auto* const first = reinterpret_cast<unsigned long long*>(layout.values);
  check(cudaMemsetAsync(first, 0xFF, sizeof *first, stream.cuda()));
  const std::uint64_t words = bitmap_words(state.vertices);
  launch_threads(find_first, words, stream, joined, words, first);
  launch_threads(start_with, state.vertices, stream, state, joined, first);
}

void components_sample(const ComponentsState& state, const EdgePass& pass, std::uint32_t rounds,
                       unsigned blocks, Stream stream) {
  const OnDeviceOf device(stream);
  if (pass.edges == 0) return;
  // The owners of a span are as many as its edges at most, but for those without edges.
  launch_threads(sample, blocks == 0 ? device_threads : std::uint64_t{blocks} * block_threads,
                 stream, state, pass, rounds);
}

void components_flatten(const ComponentsState& state, Stream stream) {
  const OnDeviceOf device(stream);
  launch_threads(flatten, state.vertices, stream, state);
}

Vertex components_most_frequent(const ComponentsState& state, Stream stream) {
  const OnDeviceOf device(stream);
  const std::uint64_t count = sampled_labels(state.vertices);
  // The frontier is not in use.
  launch_threads(take_sample, count, stream, state, state.frontier, count);
  std::vector<Vertex> labels(count);
  copy(labels.data(), state.frontier, count * sizeof(Vertex), stream);
  return most_frequent_of(std::move(labels));
}

void components_mark_outside(const ComponentsState& state, Vertex label, Stream stream) {
  const OnDeviceOf device(stream);
  write_bits(state.vertices, state.bits, Outside{state.labels, label}, stream);
}

void components_clear_bits(const ComponentsState& state, Stream stream) {
  const OnDeviceOf device(stream);
  check(cudaMemsetAsync(state.bits, 0, bitmap_words(state.vertices) * 8, stream.cuda()));
}

void components_link(const ComponentsState& state, const WorkItems& items, const ItemPass& pass,
                     Stream stream) {
  const OnDeviceOf device(stream);
  const VisitLayout layout(state.workspace, state.vertices, pass.edges, pass.ranges_count);
  visit_edges(items, pass, state.neighbours, layout, Link{state.labels, items}, stream);
}

void components_join(const ComponentsState& state, const Vertex* others, Stream stream) {
  const OnDeviceOf device(stream);
  launch_threads(join_others, state.vertices, stream, state, others);
}

void components_send(const ComponentsState& state, const WorkItems& items, const ItemPass& pass,
                     Stream stream) {
  const OnDeviceOf device(stream);
  const VisitLayout layout(state.workspace, state.vertices, pass.edges, pass.ranges_count);
  visit_edges(items, pass, state.neighbours, layout, Send{state.labels, state.bits, items}, stream);
}

}  // namespace holdall::kernels::gpu
