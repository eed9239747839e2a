#include "kernels/gpu.hpp"
#include "kernels/sssp.hpp"
#include "kernels/visit.cuh"

namespace holdall::kernels::gpu {
namespace {

__global__ void start(SsspState state, Vertex source) {
  const std::uint64_t v = thread_index();
  if (v >= state.vertices) return;
  state.distances[v] = v == source ? 0 : no_path;
  if (v == 0) *state.overflow = 0;
  if (v % 64 == 0) {
    state.waiting[v / 64] = source / 64 == v / 64 ? std::uint64_t{1} << source % 64 : 0;
    state.chosen[v / 64] = 0;
  }
}

// A thread for each vertex; a warp for 32 bits.
__global__ void __launch_bounds__(block_threads) choose(SsspState state, std::uint32_t limit) {
  const std::uint64_t v = thread_index();
  if (v / 32 >= 2 * bitmap_words(state.vertices)) return;
  auto* waiting = reinterpret_cast<std::uint32_t*>(state.waiting) + v / 32;
  const std::uint32_t bits = *waiting;
  const bool its = (bits >> v % 32 & 1) != 0 && state.distances[v] < limit;
  const unsigned chosen = __ballot_sync(0xFFFF'FFFF, its);
  if (v % 32 != 0) return;
  reinterpret_cast<std::uint32_t*>(state.chosen)[v / 32] = chosen;
  if (chosen != 0) *waiting = bits & ~chosen;
}

__global__ void __launch_bounds__(block_threads) find_nearest(SsspState state) {
  const std::uint64_t v = thread_index();
  std::uint32_t its = no_path;
  if (v < state.vertices && (state.waiting[v / 64] >> v % 64 & 1) != 0) its = state.distances[v];
  its = __reduce_min_sync(0xFFFF'FFFF, its);
  if (threadIdx.x % 32 == 0 && its != no_path) atomicMin(state.answer, its);
}

template <bool floating>
struct Relax {
  using Seen = std::uint32_t;
  SsspState state;
  WorkItems items;
  __device__ Seen look(Vertex to) const { return __ldcg(state.distances + to); }
  __device__ void visit(std::uint64_t item, std::uint64_t edge, Vertex to, Seen its) const {
    const std::uint32_t from = __ldcg(state.distances + items.vertices[item]);
    const std::uint32_t path = path_along(from, __ldg(state.weights + edge), floating);
    if (!floating && path == no_path) {
      *state.overflow = 1;
      return;
    }
    if (path < its && atomicMin(state.distances + to, path) > path) set_bit(state.waiting, to);
  }
};

}  // namespace

void sssp_start(const SsspState& state, Vertex source, Stream stream) {
  const OnDeviceOf device(stream);
  launch_threads(start, state.vertices, stream, state, source);
}

void sssp_choose(const SsspState& state, std::uint32_t limit, Stream stream) {
  const OnDeviceOf device(stream);
  launch_threads(choose, bitmap_words(state.vertices) * 64, stream, state, limit);
}

std::uint32_t sssp_nearest(const SsspState& state, Stream stream) {
  const OnDeviceOf device(stream);
  check(cudaMemsetAsync(state.answer, 0xFF, sizeof(*state.answer), stream.cuda()));
  launch_threads(find_nearest, state.vertices, stream, state);
  return read_back(state.answer, stream);
}

void sssp_relax(const SsspState& state, const WorkItems& items, const ItemPass& pass,
                Stream stream) {
  const OnDeviceOf device(stream);
  const VisitLayout layout(state.workspace, state.vertices, pass.edges, pass.ranges_count);
  if (state.floating) {
    visit_edges(items, pass, state.neighbours, layout, Relax<true>{state, items}, stream);
  } else {
    visit_edges(items, pass, state.neighbours, layout, Relax<false>{state, items}, stream);
  }
}

}  // namespace holdall::kernels::gpu
