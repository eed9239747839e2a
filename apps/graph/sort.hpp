// Neighbour lists in ascending order.
#pragma once

#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_sort.h>

#include <algorithm>
#include <type_traits>
#include <vector>

#include "apps/graph/csr.hpp"

namespace holdall::graph {

// In place, lists in parallel, and within a list where it is a hub's. Edges to the same neighbour
// go by weight, the least first. Sorted lists are left alone. Memory: with weights, 8 bytes an edge
// of the longest list (16 where ids have 64 bits).
inline void sort_lists(Adjacency& adjacency) {
  constexpr std::uint64_t hub = 1 << 20;
  const std::uint64_t vertices = adjacency.offsets.size() - 1;
  const auto sort = [](auto begin, auto end) {
    if (static_cast<std::uint64_t>(end - begin) < hub)
      std::sort(begin, end);
    else
      tbb::parallel_sort(begin, end);
  };
  using Range = tbb::blocked_range<std::uint64_t>;
  if (adjacency.weights.empty()) {
    tbb::parallel_for(Range(0, vertices, 256), [&](const Range& range) {
      for (std::uint64_t v = range.begin(); v < range.end(); ++v) {
        Vertex* const begin = adjacency.neighbours.data() + adjacency.offsets[v];
        Vertex* const end = adjacency.neighbours.data() + adjacency.offsets[v + 1];
        if (!std::is_sorted(begin, end)) sort(begin, end);
      }
    });
    return;
  }
  // Weights are bits that order as their values do, so both sort as one number.
  __extension__ using Both =
      std::conditional_t<sizeof(Vertex) == 4, std::uint64_t, unsigned __int128>;
  const auto sort_list = [&](std::uint64_t v, std::vector<Both>& list) {
    const std::uint64_t begin = adjacency.offsets[v], end = adjacency.offsets[v + 1];
    list.resize(end - begin);
    for (std::uint64_t e = begin; e < end; ++e)
      list[e - begin] = Both{adjacency.neighbours[e]} << 32 | adjacency.weights[e];
    if (std::ranges::is_sorted(list)) return;
    sort(list.begin(), list.end());
    for (std::uint64_t e = begin; e < end; ++e) {
      adjacency.neighbours[e] = static_cast<Vertex>(list[e - begin] >> 32);
      adjacency.weights[e] = static_cast<std::uint32_t>(list[e - begin]);
    }
  };
  tbb::enumerable_thread_specific<std::vector<Both>> lists;
  tbb::parallel_for(Range(0, vertices, 256), [&](const Range& range) {
    for (std::uint64_t v = range.begin(); v < range.end(); ++v)
      if (adjacency.degree(v) < hub) sort_list(v, lists.local());
  });
  // Hubs one after the other, all threads in each: one copy of a long list at a time.
  std::vector<Both> list;
  for (std::uint64_t v = 0; v < vertices; ++v)
    if (adjacency.degree(v) >= hub) sort_list(v, list);
}

}  // namespace holdall::graph
