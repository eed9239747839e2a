#include "kernels/gpu.hpp"
#include "kernels/kcore.hpp"
#include "kernels/visit.cuh"

namespace holdall::kernels::gpu {
namespace {

__global__ void start(KcoreState state) {
  const std::uint64_t v = thread_index();
  if (v >= state.vertices) return;
  state.degrees[v] = static_cast<std::uint32_t>(state.offsets[v + 1] - state.offsets[v]);
  state.cores[v] = no_core;
}

__global__ void __launch_bounds__(block_threads) find_least(KcoreState state) {
  const std::uint64_t v = thread_index();
  std::uint32_t its = no_core;
  if (v < state.vertices && state.cores[v] == no_core) its = state.degrees[v];
  its = __reduce_min_sync(0xFFFF'FFFF, its);
  if (threadIdx.x % 32 == 0 && its < __ldcg(state.answer)) atomicMin(state.answer, its);
}

struct AtMost {
  KcoreState state;
  std::uint32_t k;
  __device__ bool operator()(std::uint64_t v) const {
    return state.cores[v] == no_core && state.degrees[v] <= k;
  }
};

__global__ void peel(KcoreState state, std::uint32_t k, std::uint64_t count) {
  const std::uint64_t i = thread_index();
  if (i < count) state.cores[state.frontier[i]] = k;
}

struct Drop {
  using Seen = std::uint32_t;
  KcoreState state;
  std::uint32_t k;
  __device__ Seen look(Vertex to) const { return state.cores[to]; }
  __device__ void visit(std::uint64_t, std::uint64_t, Vertex to, Seen core) const {
    if (core == no_core && atomicSub(state.degrees + to, 1u) == k + 1) set_bit(state.bits, to);
  }
};

}  // namespace

void kcore_start(const KcoreState& state, Stream stream) {
  const OnDeviceOf device(stream);
  launch_threads(start, state.vertices, stream, state);
}

std::uint32_t kcore_least(const KcoreState& state, Stream stream) {
  const OnDeviceOf device(stream);
  check(cudaMemsetAsync(state.answer, 0xFF, sizeof(*state.answer), stream.cuda()));
  launch_threads(find_least, state.vertices, stream, state);
  return read_back(state.answer, stream);
}

void kcore_mark(const KcoreState& state, std::uint32_t k, Stream stream) {
  const OnDeviceOf device(stream);
  write_bits(state.vertices, state.bits, AtMost{state, k}, stream);
}

void kcore_peel(const KcoreState& state, std::uint32_t k, std::uint64_t count, Stream stream) {
  const OnDeviceOf device(stream);
  launch_threads(peel, count, stream, state, k, count);
  check(cudaMemsetAsync(state.bits, 0, bitmap_words(state.vertices) * 8, stream.cuda()));
}

void kcore_drop(const KcoreState& state, std::uint32_t k, const WorkItems& items,
                const ItemPass& pass, Stream stream) {
  const OnDeviceOf device(stream);
  const VisitLayout layout(state.workspace, state.vertices, pass.edges, pass.ranges_count);
  visit_edges(items, pass, state.neighbours, layout, Drop{state, k}, stream);
}

}  // namespace holdall::kernels::gpu
