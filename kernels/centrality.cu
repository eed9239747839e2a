#include "kernels/centrality.hpp"
#include "kernels/gpu.hpp"
#include "kernels/visit.cuh"

namespace holdall::kernels::gpu {
namespace {

__global__ void start(CentralityState state, Vertex source) {
  const std::uint64_t v = thread_index();
  if (v >= state.vertices) return;
  state.paths[v] = v == source ? 1 : 0;
  state.dependencies[v] = 0;
  state.depths[v] = v == source ? 0 : no_depth;
  if (v == source) state.order[0] = source;
  if (v % 64 == 0) state.bits[v / 64] = 0;
}

struct Forward {
  using Seen = std::uint32_t;
  CentralityState state;
  WorkItems items;
  std::uint32_t depth;
  __device__ Seen look(Vertex to) const { return __ldcg(state.depths + to); }
  __device__ void visit(std::uint64_t item, std::uint64_t, Vertex to, Seen found) const {
    if (found == no_depth) {
      found = atomicCAS(state.depths + to, no_depth, depth + 1);
      if (found == no_depth) {
        set_bit(state.bits, to);
        found = depth + 1;
      }
    }
    if (found == depth + 1) atomicAdd(state.paths + to, state.paths[items.vertices[item]]);
  }
};

struct Backward {
  using Seen = bool;
  CentralityState state;
  WorkItems items;
  std::uint32_t depth;
  __device__ Seen look(Vertex to) const { return __ldg(state.depths + to) == depth + 1; }
  __device__ void visit(std::uint64_t item, std::uint64_t, Vertex to, Seen deeper) const {
    if (!deeper) return;
    const Vertex from = items.vertices[item];
    atomicAdd(state.dependencies + from,
              state.paths[from] / state.paths[to] * (1 + state.dependencies[to]));
  }
};

__global__ void add(CentralityState state, Vertex source) {
  const std::uint64_t v = thread_index();
  if (v < state.vertices && v != source) state.scores[v] += state.dependencies[v];
}

}  // namespace

void centrality_clear(const CentralityState& state, Stream stream) {
  const OnDeviceOf device(stream);
  check(cudaMemsetAsync(state.scores, 0, state.vertices * sizeof(double), stream.cuda()));
}

void centrality_clear_bits(const CentralityState& state, Stream stream) {
  const OnDeviceOf device(stream);
  check(cudaMemsetAsync(state.bits, 0, bitmap_words(state.vertices) * 8, stream.cuda()));
}

void centrality_start(const CentralityState& state, Vertex source, Stream stream) {
  const OnDeviceOf device(stream);
  launch_threads(start, state.vertices, stream, state, source);
}

void centrality_forward(const CentralityState& state, std::uint32_t depth, const WorkItems& items,
                        const ItemPass& pass, Stream stream) {
  const OnDeviceOf device(stream);
  const VisitLayout layout(state.workspace, state.vertices, pass.edges, pass.ranges_count);
  visit_edges(items, pass, state.neighbours, layout, Forward{state, items, depth}, stream);
}

void centrality_backward(const CentralityState& state, std::uint32_t depth, const WorkItems& items,
                         const ItemPass& pass, Stream stream) {
  const OnDeviceOf device(stream);
  const VisitLayout layout(state.workspace, state.vertices, pass.edges, pass.ranges_count);
  visit_edges(items, pass, state.neighbours, layout, Backward{state, items, depth}, stream);
}

void centrality_add(const CentralityState& state, Vertex source, Stream stream) {
  const OnDeviceOf device(stream);
  launch_threads(add, state.vertices, stream, state, source);
}

}  // namespace holdall::kernels::gpu
