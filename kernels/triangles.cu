#include "kernels/gpu.hpp"
#include "kernels/on_gpu.cuh"
#include "kernels/search.hpp"
#include "kernels/triangles.hpp"

namespace holdall::kernels::gpu {
namespace {

// A warp takes 32 edges, a thread each to see which count, and all threads for each that does.
__global__ void __launch_bounds__(block_threads)
    count(TrianglesState state, EdgeSpan edges, VertexSpan middle) {
  constexpr unsigned all = 0xFFFF'FFFF;
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t end = edges.first + edges.count;
  const std::uint64_t threads = std::uint64_t{gridDim.x} * block_threads;
  std::uint64_t found = 0;
  for (std::uint64_t own = edges.first + thread_index(); own - lane < end; own += threads) {
    std::uint64_t u = 0;
    Vertex v = 0;
    bool counts = own < end;
    if (counts) {
      u = last_at_most(state.offsets, state.vertices, own);
      v = __ldg(state.neighbours + own);
      counts = v < u && v >= middle.first && v < middle.end &&
               (own == state.offsets[u] || __ldg(state.neighbours + own - 1) != v);
    }
    for (unsigned some = __ballot_sync(all, counts); some != 0; some &= some - 1) {
      const int from = __ffs(static_cast<int>(some)) - 1;
      const std::uint64_t its_u = __shfl_sync(all, u, from);
      const std::uint64_t its_v = __shfl_sync(all, v, from);
      const std::uint64_t edge = __shfl_sync(all, own, from);
      const std::uint64_t u_first = state.offsets[its_u];
      const std::uint64_t v_first = state.offsets[its_v];
      const std::uint64_t u_count = edge - u_first;
      const std::uint64_t v_count = state.offsets[its_v + 1] - v_first;
      const auto below = static_cast<Vertex>(its_v);
      const Vertex* const u_list = state.neighbours + u_first;
      const Vertex* const v_list = state.neighbours + v_first;
      found += u_count < v_count ? common_below(u_list, u_count, v_list, v_count, below, lane, 32)
                                 : common_below(v_list, v_count, u_list, u_count, below, lane, 32);
    }
  }
  for (int step = 16; step > 0; step /= 2) found += __shfl_down_sync(all, found, step);
  if (lane == 0 && found != 0) {
    atomicAdd(reinterpret_cast<unsigned long long*>(state.count),
              static_cast<unsigned long long>(found));
  }
}

}  // namespace

void count_triangles(const TrianglesState& state, const EdgeSpan& edges, const VertexSpan& middle,
                     Stream stream) {
  const OnDeviceOf device(stream);
  constexpr std::uint64_t most = std::uint64_t{1} << 20;
  launch_threads(count, min(edges.count, most), stream, state, edges, middle);
}

}  // namespace holdall::kernels::gpu
