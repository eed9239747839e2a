#include "kernels/kcore.hpp"

#include <tbb/parallel_reduce.h>

#include "kernels/gpu.hpp"
#include "kernels/on_host.hpp"
#include "kernels/visit_on_host.hpp"

namespace holdall::kernels {
namespace {

using Range = tbb::blocked_range<std::uint64_t>;

void start(const KcoreState& state) {
  tbb::parallel_for(Range(0, state.vertices, 16384), [&](const Range& range) {
    for (std::uint64_t v = range.begin(); v < range.end(); ++v) {
      state.degrees[v] = static_cast<std::uint32_t>(state.offsets[v + 1] - state.offsets[v]);
      state.cores[v] = no_core;
    }
  });
}

std::uint32_t least(const KcoreState& state) {
  return tbb::parallel_reduce(
      Range(0, state.vertices, 16384), no_core,
      [&](const Range& range, std::uint32_t least) {
        for (std::uint64_t v = range.begin(); v < range.end(); ++v)
          if (state.cores[v] == no_core) least = std::min(least, state.degrees[v]);
        return least;
      },
      [](std::uint32_t a, std::uint32_t b) { return std::min(a, b); });
}

void drop(const KcoreState& state, std::uint32_t k, const WorkItems& items, const ItemPass& pass) {
  visit_edges(items, pass, state.neighbours, [&](std::uint64_t, std::uint64_t, Vertex to) {
    if (state.cores[to] != no_core) return;
    if (std::atomic_ref(state.degrees[to]).fetch_sub(1, std::memory_order_relaxed) == k + 1)
      set_bit(state.bits, to);
  });
}

}  // namespace

void kcore_start(const KcoreState& state, Stream stream) {
  if (!stream.on_host()) return gpu::kcore_start(state, stream);
  vmm::launch(stream, [=] { start(state); });
}

std::uint32_t kcore_least(const KcoreState& state, Stream stream) {
  if (!stream.on_host()) return gpu::kcore_least(state, stream);
  return launch_and_wait(stream, [=] { return least(state); });
}

void kcore_mark(const KcoreState& state, std::uint32_t k, Stream stream) {
  if (!stream.on_host()) return gpu::kcore_mark(state, k, stream);
  vmm::launch(stream, [=] {
    write_bits(state.vertices, state.bits,
               [&](std::uint64_t v) { return state.cores[v] == no_core && state.degrees[v] <= k; });
  });
}

std::uint64_t kcore_take(const KcoreState& state, std::uint32_t k, Stream stream) {
  const std::uint64_t count =
      list_vertices(state.bits, true, state.vertices, state.frontier, state.workspace, stream);
  if (!stream.on_host()) {
    gpu::kcore_peel(state, k, count, stream);
    return count;
  }
  vmm::launch(stream, [=] {
    tbb::parallel_for(Range(0, count, 16384), [&](const Range& range) {
      for (std::uint64_t i = range.begin(); i < range.end(); ++i)
        state.cores[state.frontier[i]] = k;
    });
    std::fill(state.bits, state.bits + bitmap_words(state.vertices), 0);
  });
  return count;
}

void kcore_drop(const KcoreState& state, std::uint32_t k, const WorkItems& items,
                const ItemPass& pass, Stream stream) {
  if (!stream.on_host()) return gpu::kcore_drop(state, k, items, pass, stream);
  vmm::launch(stream, [=] { drop(state, k, items, pass); });
}

}  // namespace holdall::kernels
