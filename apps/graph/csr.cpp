#include "apps/graph/csr.hpp"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_reduce.h>

#include <algorithm>
#include <atomic>

#include "apps/graph/scan.hpp"
#include "apps/graph/sort.hpp"

namespace holdall::graph {

using Range = tbb::blocked_range<std::uint64_t>;

Adjacency transpose(const Adjacency& out) {
  const std::uint64_t vertices = out.offsets.size() - 1;
  const std::uint64_t edges = out.neighbours.size();
  Adjacency in;

  // 1. count, each vertex one place to the right
  in.offsets = Array<std::uint64_t>::zeros(vertices + 1);
  tbb::parallel_for(Range(0, edges, 1 << 14), [&](const Range& range) {
    for (std::uint64_t e = range.begin(); e < range.end(); ++e)
      std::atomic_ref(in.offsets[out.neighbours[e] + std::uint64_t{1}])
          .fetch_add(1, std::memory_order_relaxed);
  });

  // 2. offsets[v + 1] is where v's list starts
  exclusive_scan({in.offsets.data() + 1, vertices});

  // 3. place; offsets[v + 1] ends where the list of v + 1 starts
  in.neighbours = Array<Vertex>::uninitialized(edges);
  in.weights = Array<std::uint32_t>::uninitialized(out.weights.size());
  tbb::parallel_for(Range(0, vertices, 256), [&](const Range& range) {
    for (std::uint64_t v = range.begin(); v < range.end(); ++v)
      for (std::uint64_t e = out.offsets[v]; e < out.offsets[v + 1]; ++e) {
        const std::uint64_t at = std::atomic_ref(in.offsets[out.neighbours[e] + std::uint64_t{1}])
                                     .fetch_add(1, std::memory_order_relaxed);
        in.neighbours[at] = static_cast<Vertex>(v);
        if (!out.weights.empty()) in.weights[at] = out.weights[e];
      }
  });

  // 4. the order of placing was up to the threads
  sort_lists(in);
  return in;
}

Summary summarize(const Csr& csr) {
  Summary all = tbb::parallel_reduce(
      Range(0, csr.vertices(), 256), Summary{},
      [&](const Range& range, Summary part) {
        for (std::uint64_t v = range.begin(); v < range.end(); ++v) {
          const std::span<const Vertex> list = csr.out.of(v);
          for (std::size_t i = 0; i < list.size(); ++i) {
            if (list[i] == v)
              ++part.self_loops;
            else if (i > 0 && list[i] == list[i - 1])
              ++part.duplicates;
          }
          if (list.empty()) ++part.dangling;
          if (list.empty() && csr.in().degree(v) == 0) ++part.isolated;
          part.greatest_degree = std::max<std::uint64_t>(part.greatest_degree, list.size());
        }
        return part;
      },
      [](Summary a, const Summary& b) {
        a.self_loops += b.self_loops;
        a.duplicates += b.duplicates;
        a.isolated += b.isolated;
        a.dangling += b.dangling;
        a.greatest_degree = std::max(a.greatest_degree, b.greatest_degree);
        return a;
      });
  all.vertices = csr.vertices();
  all.edges = csr.edges();
  return all;
}

}  // namespace holdall::graph
