#include "kernels/centrality.hpp"

#include "kernels/gpu.hpp"
#include "kernels/on_host.hpp"
#include "kernels/visit_on_host.hpp"

namespace holdall::kernels {
namespace {

using Range = tbb::blocked_range<std::uint64_t>;
constexpr std::uint64_t vertex_grain = 16384;

void start(const CentralityState& state, Vertex source) {
  tbb::parallel_for(Range(0, state.vertices, vertex_grain), [&](const Range& range) {
    std::fill(state.paths + range.begin(), state.paths + range.end(), 0.0);
    std::fill(state.dependencies + range.begin(), state.dependencies + range.end(), 0.0);
    std::fill(state.depths + range.begin(), state.depths + range.end(), no_depth);
  });
  std::fill(state.bits, state.bits + bitmap_words(state.vertices), 0);
  state.depths[source] = 0;
  state.paths[source] = 1;
  state.order[0] = source;
}

void forward(const CentralityState& state, std::uint32_t depth, const WorkItems& items,
             const ItemPass& pass) {
  visit_edges(items, pass, state.neighbours, [&](std::uint64_t item, std::uint64_t, Vertex to) {
    const std::atomic_ref its(state.depths[to]);
    std::uint32_t found = no_depth;
    if (its.compare_exchange_strong(found, depth + 1, std::memory_order_relaxed))
      set_bit(state.bits, to);
    else if (found != depth + 1)
      return;
    std::atomic_ref(state.paths[to])
        .fetch_add(state.paths[items.vertices[item]], std::memory_order_relaxed);
  });
}

void backward(const CentralityState& state, std::uint32_t depth, const WorkItems& items,
              const ItemPass& pass) {
  visit_edges(items, pass, state.neighbours, [&](std::uint64_t item, std::uint64_t, Vertex to) {
    if (state.depths[to] != depth + 1) return;
    const Vertex from = items.vertices[item];
    const double its = state.paths[from] / state.paths[to] * (1 + state.dependencies[to]);
    std::atomic_ref(state.dependencies[from]).fetch_add(its, std::memory_order_relaxed);
  });
}

}  // namespace

void centrality_clear(const CentralityState& state, Stream stream) {
  if (!stream.on_host()) return gpu::centrality_clear(state, stream);
  vmm::launch(stream, [=] { std::fill(state.scores, state.scores + state.vertices, 0.0); });
}

void centrality_start(const CentralityState& state, Vertex source, Stream stream) {
  if (!stream.on_host()) return gpu::centrality_start(state, source, stream);
  vmm::launch(stream, [=] { start(state, source); });
}

void centrality_forward(const CentralityState& state, std::uint32_t depth, const WorkItems& items,
                        const ItemPass& pass, Stream stream) {
  if (!stream.on_host()) return gpu::centrality_forward(state, depth, items, pass, stream);
  vmm::launch(stream, [=] { forward(state, depth, items, pass); });
}

std::uint64_t centrality_next(const CentralityState& state, std::uint64_t at, Stream stream) {
  const std::uint64_t count =
      list_vertices(state.bits, true, state.vertices, state.order + at, state.workspace, stream);
  if (!stream.on_host()) {
    gpu::centrality_clear_bits(state, stream);
  } else {
    vmm::launch(stream,
                [=] { std::fill(state.bits, state.bits + bitmap_words(state.vertices), 0); });
  }
  return count;
}

void centrality_backward(const CentralityState& state, std::uint32_t depth, const WorkItems& items,
                         const ItemPass& pass, Stream stream) {
  if (!stream.on_host()) return gpu::centrality_backward(state, depth, items, pass, stream);
  vmm::launch(stream, [=] { backward(state, depth, items, pass); });
}

void centrality_add(const CentralityState& state, Vertex source, Stream stream) {
  if (!stream.on_host()) return gpu::centrality_add(state, source, stream);
  vmm::launch(stream, [=] {
    tbb::parallel_for(Range(0, state.vertices, vertex_grain), [&](const Range& range) {
      for (std::uint64_t v = range.begin(); v < range.end(); ++v)
        if (v != source) state.scores[v] += state.dependencies[v];
    });
  });
}

}  // namespace holdall::kernels
