#include "kernels/triangles.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>

#include "kernels/gpu.hpp"
#include "kernels/on_host.hpp"
#include "kernels/search.hpp"

namespace holdall::kernels {
namespace {

// Of two lists, neither much longer than the other, by going through both.
std::uint64_t merged_below(const Vertex* a, const Vertex* a_end, const Vertex* b,
                           const Vertex* b_end, Vertex below) {
  std::uint64_t common = 0;
  while (a < a_end && b < b_end && *a < below && *b < below) {
    if (*a < *b) {
      ++a;
    } else if (*b < *a) {
      ++b;
    } else {
      ++common;
      const Vertex value = *a;
      while (a < a_end && *a == value) ++a;
      while (b < b_end && *b == value) ++b;
    }
  }
  return common;
}

void count(const TrianglesState& state, const EdgeSpan& edges, const VertexSpan& middle) {
  using Range = tbb::blocked_range<std::uint64_t>;
  *state.count += tbb::parallel_reduce(
      Range(edges.first, edges.first + edges.count, 1024), std::uint64_t{0},
      [&](const Range& range, std::uint64_t sum) {
        std::uint64_t u = last_at_most(state.offsets, state.vertices, range.begin());
        for (std::uint64_t e = range.begin(); e < range.end(); ++e) {
          u = last_at_most(state.offsets, state.vertices, e, u);
          const Vertex v = state.neighbours[e];
          if (v >= u || v < middle.first || v >= middle.end) continue;
          if (e > state.offsets[u] && state.neighbours[e - 1] == v) continue;
          const Vertex* shorter = state.neighbours + state.offsets[v];
          const Vertex* longer = state.neighbours + state.offsets[u];
          std::uint64_t fewer = state.offsets[v + std::uint64_t{1}] - state.offsets[v];
          std::uint64_t more = e - state.offsets[u];
          if (more < fewer) {
            std::swap(shorter, longer);
            std::swap(fewer, more);
          }
          sum += more / 16 > fewer
                     ? common_below(shorter, fewer, longer, more, v, 0, 1)
                     : merged_below(shorter, shorter + fewer, longer, longer + more, v);
        }
        return sum;
      },
      std::plus<>());
}

}  // namespace

void count_triangles(const TrianglesState& state, const VertexSpan& greatest, const EdgeSpan& edges,
                     const VertexSpan& middle, Stream stream) {
  if (greatest.first >= greatest.end || edges.count == 0) return;
  if (!stream.on_host()) return gpu::count_triangles(state, edges, middle, stream);
  vmm::launch(stream, [=] { count(state, edges, middle); });
}

}  // namespace holdall::kernels
