#include "kernels/bfs.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <atomic>
#include <bit>

#include "kernels/gpu.hpp"
#include "kernels/on_host.hpp"
#include "kernels/visit_on_host.hpp"

namespace holdall::kernels {
namespace {

using Range = tbb::blocked_range<std::uint64_t>;
constexpr std::uint64_t vertex_grain = 65536;

void start(const BfsState& state, Vertex source) {
  tbb::parallel_for(Range(0, state.vertices, vertex_grain), [&](const Range& range) {
    std::fill(state.parents + range.begin(), state.parents + range.end(), no_vertex);
  });
  const std::uint64_t words = bitmap_words(state.vertices);
  std::fill(state.reached, state.reached + words, 0);
  std::fill(state.settled, state.settled + words, 0);
  if (state.front != nullptr) {
    std::fill(state.front, state.front + words, 0);
    state.front[source / 64] = std::uint64_t{1} << source % 64;
  }
  state.reached[source / 64] = state.settled[source / 64] = std::uint64_t{1} << source % 64;
  state.parents[source] = source;
  state.frontier[0] = source;
}

void expand(const BfsState& state, const WorkItems& items, const ItemPass& pass) {
  visit_edges(items, pass, state.neighbours, [&](std::uint64_t item, std::uint64_t, Vertex v) {
    if (set_bit(state.reached, v)) state.parents[v] = items.vertices[item];
  });
}

void pull(const BfsState& state, const WorkItems& items, const ItemPass& pass) {
  visit_items(pass, [&](std::uint64_t item) {
    const Vertex v = items.vertices[item];
    const std::atomic_ref word(state.reached[v / 64]);
    if ((word.load(std::memory_order_relaxed) >> v % 64 & 1) != 0) return;
    const Vertex* at = state.neighbours + items.begins[item];
    for (const Vertex* const end = at + (items.scan[item + 1] - items.scan[item]); at < end; ++at) {
      if ((state.front[*at / 64] >> *at % 64 & 1) == 0) continue;
      if (set_bit(state.reached, v)) state.parents[v] = *at;
      return;
    }
  });
}

std::uint64_t next_frontier(const BfsState& state, Vertex* places) {
  const std::uint64_t words = bitmap_words(state.vertices);
  exclusive_scan(
      words,
      [&](std::uint64_t word) {
        return static_cast<Vertex>(std::popcount(state.reached[word] & ~state.settled[word]));
      },
      places);
  tbb::parallel_for(Range(0, words, vertex_grain / 64), [&](const Range& range) {
    for (std::uint64_t word = range.begin(); word < range.end(); ++word) {
      Vertex* to = state.frontier + places[word];
      for (std::uint64_t bits = state.reached[word] & ~state.settled[word]; bits != 0;
           bits &= bits - 1) {
        *to++ = static_cast<Vertex>(word * 64 + std::countr_zero(bits));
      }
      if (state.front != nullptr) state.front[word] = state.reached[word] & ~state.settled[word];
      state.settled[word] = state.reached[word];
    }
  });
  return places[words];
}

}  // namespace

std::uint64_t bfs_start(const BfsState& state, Vertex source, Stream stream) {
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

std::uint64_t bfs_unreached(const BfsState& state, Stream stream) {
  return list_vertices(state.reached, false, state.vertices, state.frontier, state.workspace,
                       stream);
}

void bfs_pull(const BfsState& state, const WorkItems& items, const ItemPass& pass, Stream stream) {
  if (!stream.on_host()) return gpu::bfs_pull(state, items, pass, stream);
  vmm::launch(stream, [=] { pull(state, items, pass); });
}

std::uint64_t bfs_next_frontier(const BfsState& state, Stream stream) {
  if (!stream.on_host()) return gpu::bfs_next_frontier(state, stream);
  return launch_and_wait(
      stream, [state] { return next_frontier(state, static_cast<Vertex*>(state.workspace)); });
}

}  // namespace holdall::kernels
