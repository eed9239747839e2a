// Neighbour lists in ascending order.
#pragma once

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_sort.h>

#include <algorithm>

#include "apps/graph/csr.hpp"

namespace holdall::graph {

// In place, lists in parallel, and within a list where it is a hub's. Sorted lists are left alone.
inline void sort_lists(Adjacency& adjacency) {
  constexpr std::uint64_t hub = 1 << 20;
  const std::uint64_t vertices = adjacency.offsets.size() - 1;
  tbb::parallel_for(tbb::blocked_range<std::uint64_t>(0, vertices, 256), [&](const auto& range) {
    for (std::uint64_t v = range.begin(); v < range.end(); ++v) {
      Vertex* const begin = adjacency.neighbours.data() + adjacency.offsets[v];
      Vertex* const end = adjacency.neighbours.data() + adjacency.offsets[v + 1];
      if (std::is_sorted(begin, end)) continue;
      if (adjacency.degree(v) < hub)
        std::sort(begin, end);
      else
        tbb::parallel_sort(begin, end);
    }
  });
}

}  // namespace holdall::graph
