#include "kernels/sssp.hpp"

#include <tbb/parallel_reduce.h>

#include "kernels/device_array.hpp"
#include "kernels/gpu.hpp"
#include "kernels/on_host.hpp"
#include "kernels/visit_on_host.hpp"

namespace holdall::kernels {
namespace {

using Range = tbb::blocked_range<std::uint64_t>;

void start(const SsspState& state, Vertex source) {
  const std::uint64_t words = bitmap_words(state.vertices);
  tbb::parallel_for(Range(0, state.vertices, 65536), [&](const Range& range) {
    std::fill(state.distances + range.begin(), state.distances + range.end(), no_path);
  });
  std::fill(state.waiting, state.waiting + words, 0);
  std::fill(state.chosen, state.chosen + words, 0);
  state.distances[source] = 0;
  state.waiting[source / 64] = std::uint64_t{1} << source % 64;
  *state.overflow = 0;
}

void choose(const SsspState& state, std::uint32_t limit) {
  tbb::parallel_for(Range(0, bitmap_words(state.vertices), 1024), [&](const Range& range) {
    for (std::uint64_t w = range.begin(); w < range.end(); ++w) {
      std::uint64_t chosen = 0;
      for (std::uint64_t bits = state.waiting[w]; bits != 0; bits &= bits - 1) {
        const auto bit = static_cast<std::uint64_t>(std::countr_zero(bits));
        chosen |= std::uint64_t{state.distances[w * 64 + bit] < limit} << bit;
      }
      state.chosen[w] = chosen;
      state.waiting[w] &= ~chosen;
    }
  });
}

std::uint32_t nearest(const SsspState& state) {
  return tbb::parallel_reduce(
      Range(0, bitmap_words(state.vertices), 1024), no_path,
      [&](const Range& range, std::uint32_t least) {
        for (std::uint64_t w = range.begin(); w < range.end(); ++w)
          for (std::uint64_t bits = state.waiting[w]; bits != 0; bits &= bits - 1)
            least = std::min(
                least,
                state.distances[w * 64 + static_cast<std::uint64_t>(std::countr_zero(bits))]);
        return least;
      },
      [](std::uint32_t a, std::uint32_t b) { return std::min(a, b); });
}

template <bool floating>
void relax(const SsspState& state, const WorkItems& items, const ItemPass& pass) {
  visit_edges(
      items, pass, state.neighbours, [&](std::uint64_t item, std::uint64_t edge, Vertex to) {
        const std::uint32_t from =
            std::atomic_ref(state.distances[items.vertices[item]]).load(std::memory_order_relaxed);
        const std::uint32_t path = path_along(from, state.weights[edge], floating);
        if (!floating && path == no_path)
          std::atomic_ref(*state.overflow).store(1, std::memory_order_relaxed);
        else if (lower(state.distances[to], path))
          set_bit(state.waiting, to);
      });
}

}  // namespace

void sssp_start(const SsspState& state, Vertex source, Stream stream) {
  if (!stream.on_host()) return gpu::sssp_start(state, source, stream);
  vmm::launch(stream, [=] { start(state, source); });
}

std::uint64_t sssp_select(const SsspState& state, std::uint32_t limit, Stream stream) {
  if (!stream.on_host())
    gpu::sssp_choose(state, limit, stream);
  else
    vmm::launch(stream, [=] { choose(state, limit); });
  return list_vertices(state.chosen, true, state.vertices, state.frontier, state.workspace, stream);
}

std::uint32_t sssp_nearest(const SsspState& state, Stream stream) {
  if (!stream.on_host()) return gpu::sssp_nearest(state, stream);
  return launch_and_wait(stream, [=] { return nearest(state); });
}

void sssp_relax(const SsspState& state, const WorkItems& items, const ItemPass& pass,
                Stream stream) {
  if (!stream.on_host()) return gpu::sssp_relax(state, items, pass, stream);
  vmm::launch(stream, [=] {
    state.floating ? relax<true>(state, items, pass) : relax<false>(state, items, pass);
  });
}

}  // namespace holdall::kernels
