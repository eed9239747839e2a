#include "kernels/pagerank.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>

#include <atomic>
#include <cmath>

#include "kernels/gpu.hpp"
#include "kernels/on_host.hpp"
#include "kernels/search.hpp"

namespace holdall::kernels {
namespace {

using Range = tbb::blocked_range<std::uint64_t>;
constexpr std::uint64_t vertex_grain = 16384;
constexpr std::uint64_t edge_grain = 32768;

void start(const PagerankState& state) {
  const float score = 1.0F / static_cast<float>(state.in_all());
  tbb::parallel_for(Range(0, state.vertices, vertex_grain), [&](const Range& range) {
    std::fill(state.scores + range.begin(), state.scores + range.end(), score);
  });
}

void begin(const PagerankState& state) {
  tbb::parallel_for(Range(0, state.vertices, vertex_grain), [&](const Range& range) {
    for (std::uint64_t v = range.begin(); v < range.end(); ++v) {
      const std::uint64_t degree = state.out_offsets[v + 1] - state.out_offsets[v];
      state.contributions[state.first + v] =
          degree == 0 ? 0.0F : state.scores[v] / static_cast<float>(degree);
      state.sums[v] = 0.0F;
    }
  });
}

// Pulls over [first, last). Lists that reach out of it are shared with other calls.
void pull_edges(const PagerankState& state, std::uint64_t first, std::uint64_t last) {
  const std::uint64_t* offsets = state.in_offsets;
  std::uint64_t v = last_at_most(offsets, state.vertices, first);
  for (std::uint64_t edge = first; edge < last;) {
    v = last_at_most(offsets, state.vertices, edge, v);
    const std::uint64_t end = std::min(offsets[v + 1], last);
    double wide = 0;  // a long list would lose digits
    for (; edge < end; ++edge) wide += state.contributions[state.in_neighbours[edge]];
    const auto sum = static_cast<float>(wide);
    if (offsets[v] >= first && offsets[v + 1] <= last) {
      state.sums[v] += sum;
    } else {
      std::atomic_ref(state.sums[v]).fetch_add(sum, std::memory_order_relaxed);
    }
  }
}

void pull(const PagerankState& state, const EdgePass& pass) {
  tbb::parallel_for(std::uint64_t{0}, pass.spans_count, [&](std::uint64_t s) {
    const EdgeSpan span = pass.spans[s];
    tbb::parallel_for(Range(span.first, span.first + span.count, edge_grain),
                      [&](const Range& range) { pull_edges(state, range.begin(), range.end()); });
  });
}

void finish(const PagerankState& state) {
  const float base = (1.0F - state.damping) / static_cast<float>(state.in_all());
  *static_cast<double*>(state.workspace) = tbb::parallel_deterministic_reduce(
      Range(0, state.vertices, vertex_grain), 0.0,
      [&](const Range& range, double error) {
        for (std::uint64_t v = range.begin(); v < range.end(); ++v) {
          const float score = base + state.damping * state.sums[v];
          error += std::abs(static_cast<double>(score) - static_cast<double>(state.scores[v]));
          state.scores[v] = score;
        }
        return error;
      },
      std::plus<>());
}

}  // namespace

Bytes pagerank_workspace_bytes(std::uint64_t pass_edges, std::uint64_t pass_spans, Stream stream) {
  if (!stream.on_host()) return gpu::pagerank_workspace_bytes(pass_edges, pass_spans);
  return sizeof(double);
}

void pagerank_start(const PagerankState& state, Stream stream) {
  if (!stream.on_host()) return gpu::pagerank_start(state, stream);
  vmm::launch(stream, [state] { start(state); });
}

void pagerank_begin(const PagerankState& state, Stream stream) {
  if (!stream.on_host()) return gpu::pagerank_begin(state, stream);
  vmm::launch(stream, [state] { begin(state); });
}

void pagerank_pull(const PagerankState& state, const EdgePass& pass, Stream stream) {
  if (!stream.on_host()) return gpu::pagerank_pull(state, pass, stream);
  vmm::launch(stream, [state, pass] { pull(state, pass); });
}

void pagerank_finish(const PagerankState& state, Stream stream) {
  if (!stream.on_host()) return gpu::pagerank_finish(state, stream);
  vmm::launch(stream, [state] { finish(state); });
}

double pagerank_error(const PagerankState& state, Stream stream) {
  if (!stream.on_host()) return gpu::pagerank_error(state, stream);
  return launch_and_wait(stream, [state] { return *static_cast<const double*>(state.workspace); });
}

}  // namespace holdall::kernels
