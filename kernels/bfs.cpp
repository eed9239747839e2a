#include "kernels/bfs.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <atomic>
#include <bit>

#include "kernels/gpu.hpp"
#include "kernels/on_host.hpp"
#include "kernels/search.hpp"

namespace holdall::kernels {
namespace {

using Range = tbb::blocked_range<std::uint64_t>;
constexpr std::uint64_t vertex_grain = 65536;
constexpr std::uint64_t edge_grain = 16384;

void start(const BfsState& state, std::uint32_t source) {
  tbb::parallel_for(Range(0, state.vertices, vertex_grain), [&](const Range& range) {
    std::fill(state.parents + range.begin(), state.parents + range.end(), no_vertex);
  });
  const std::uint64_t words = bitmap_words(state.vertices);
  std::fill(state.reached, state.reached + words, 0);
  std::fill(state.settled, state.settled + words, 0);
  state.reached[source / 64] = state.settled[source / 64] = std::uint64_t{1} << source % 64;
  state.parents[source] = source;
  state.frontier[0] = source;
}

// True for the one caller that reaches `v` first.
bool reach(const BfsState& state, std::uint32_t v) {
  const std::atomic_ref word(state.reached[v / 64]);
  const std::uint64_t bit = std::uint64_t{1} << v % 64;
  if ((word.load(std::memory_order_relaxed) & bit) != 0) return false;
  return (word.fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
}

// The edges number [first, last) of all items' edges, in item order.
void expand_edges(const BfsState& state, const WorkItems& items, std::uint64_t item,
                  std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t at = first; at < last; ++item) {
    const std::uint64_t end = std::min(items.scan[item + 1], last);
    const std::uint32_t* neighbour =
        state.neighbours + items.begins[item] + (at - items.scan[item]);
    for (; at < end; ++at, ++neighbour) {
      if (reach(state, *neighbour)) state.parents[*neighbour] = items.vertices[item];
    }
  }
}

void expand(const BfsState& state, const WorkItems& items, const ItemPass& pass) {
  tbb::parallel_for(std::uint64_t{0}, pass.ranges_count, [&](std::uint64_t r) {
    const ItemRange range = pass.ranges[r];
    const std::uint64_t end = range.first + range.count;
    tbb::parallel_for(
        Range(items.scan[range.first], items.scan[end], edge_grain), [&](const Range& edges) {
          expand_edges(state, items, last_at_most(items.scan, end, edges.begin(), range.first),
                       edges.begin(), edges.end());
        });
  });
}

std::uint64_t next_frontier(const BfsState& state, std::uint32_t* places) {
  const std::uint64_t words = bitmap_words(state.vertices);
  exclusive_scan(
      words,
      [&](std::uint64_t word) {
        return static_cast<std::uint32_t>(
            std::popcount(state.reached[word] & ~state.settled[word]));
      },
      places);
  tbb::parallel_for(Range(0, words, vertex_grain / 64), [&](const Range& range) {
    for (std::uint64_t word = range.begin(); word < range.end(); ++word) {
      std::uint32_t* to = state.frontier + places[word];
      for (std::uint64_t bits = state.reached[word] & ~state.settled[word]; bits != 0;
           bits &= bits - 1) {
        *to++ = static_cast<std::uint32_t>(word * 64 + std::countr_zero(bits));
      }
      state.settled[word] = state.reached[word];
    }
  });
  return places[words];
}

}  // namespace

Bytes bfs_workspace_bytes(std::uint64_t vertices, std::uint64_t pass_edges,
                          std::uint64_t pass_ranges, Stream stream) {
  if (!stream.on_host()) return gpu::bfs_workspace_bytes(vertices, pass_edges, pass_ranges);
  return (bitmap_words(vertices) + 1) * sizeof(std::uint32_t);
}

std::uint64_t bfs_start(const BfsState& state, std::uint32_t source, Stream stream) {
  if (stream.on_host()) {
    vmm::launch(stream, [=] { start(state, source); });
  } else {
    gpu::bfs_start(state, source, stream);
  }
  return 1;
}

void bfs_expand(const BfsState& state, const WorkItems& items, const ItemPass& pass,
                Stream stream) {
  if (!stream.on_host()) return gpu::bfs_expand(state, items, pass, stream);
  vmm::launch(stream, [=] { expand(state, items, pass); });
}

std::uint64_t bfs_next_frontier(const BfsState& state, Stream stream) {
  if (!stream.on_host()) return gpu::bfs_next_frontier(state, stream);
  return launch_and_wait(stream, [state] {
    return next_frontier(state, static_cast<std::uint32_t*>(state.workspace));
  });
}

}  // namespace holdall::kernels
