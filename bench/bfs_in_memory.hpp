// Direction-optimizing breadth-first search over edges that lie in memory, as the GAP benchmark suite has it (Beamer,
// Asanovic, Patterson, 2012): what paging is compared with.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "apps/graph/csr.hpp"

namespace holdall::graph {

// The neighbours of v are neighbours[offsets[v]] to neighbours[offsets[v + 1] - 1].
struct Lists {
  const std::uint64_t* offsets = nullptr;
  const Vertex* neighbours = nullptr;
  std::uint64_t degree(std::uint64_t v) const { return offsets[v + 1] - offsets[v]; }
};

class BfsInMemory {
 public:
  BfsInMemory(std::uint64_t vertices, Lists out, Lists in) : vertices_(vertices), out_(out), in_(in), parents_(vertices) {}

  // How many vertices `source` reaches.
  std::uint64_t run(Vertex source) {
    tbb::parallel_for(all(), [&](const Range& range) {
      for (std::uint64_t v = range.begin(); v < range.end(); ++v) parents_[v] = none;
    });
    parents_[source] = source;
    std::vector<Vertex> frontier{source};
    std::uint64_t reached = 1, left = out_.offsets[vertices_];
    while (!frontier.empty()) {
      std::uint64_t scout = 0;
      for (const Vertex v : frontier) scout += out_.degree(v);
      if (scout > left / 15) {
        reached += bottom_up(frontier);
      } else {
        frontier = top_down(frontier);
        reached += frontier.size();
      }
      left -= std::min(left, scout);
    }
    return reached;
  }

 private:
  using Range = tbb::blocked_range<std::uint64_t>;
  using Bitmap = std::vector<std::uint64_t>;
  static constexpr Vertex none = ~Vertex{0};
  Range all() const { return {0, vertices_, 16384}; }

  std::vector<Vertex> top_down(const std::vector<Vertex>& frontier) {
    tbb::enumerable_thread_specific<std::vector<Vertex>> found;
    tbb::parallel_for(Range(0, frontier.size(), 64), [&](const Range& range) {
      std::vector<Vertex>& mine = found.local();
      for (std::uint64_t i = range.begin(); i < range.end(); ++i)
        for (std::uint64_t e = out_.offsets[frontier[i]]; e < out_.offsets[frontier[i] + std::uint64_t{1}]; ++e) {
          const Vertex to = out_.neighbours[e];
          const std::atomic_ref parent(parents_[to]);
          Vertex expected = none;
          if (parent.load(std::memory_order_relaxed) == none &&
              parent.compare_exchange_strong(expected, frontier[i], std::memory_order_relaxed))
            mine.push_back(to);
        }
    });
    std::vector<Vertex> next;
    for (const std::vector<Vertex>& mine : found) next.insert(next.end(), mine.begin(), mine.end());
    return next;
  }

  // As long as the frontier grows or is a good part of all; leaves the next one in `frontier`.
  std::uint64_t bottom_up(std::vector<Vertex>& frontier) {
    Bitmap front(vertices_ / 64 + 1), next(front.size());
    for (const Vertex v : frontier) front[v / 64] |= std::uint64_t{1} << v % 64;
    std::uint64_t reached = 0, awake = frontier.size(), before = 0;
    do {
      before = awake;
      awake = pull(front, next);
      reached += awake;
      front.swap(next);
    } while (awake >= before || awake > vertices_ / 18);
    frontier.clear();
    for (std::uint64_t v = 0; v < vertices_; ++v)
      if (front[v / 64] >> v % 64 & 1) frontier.push_back(static_cast<Vertex>(v));
    return reached;
  }

  std::uint64_t pull(const Bitmap& front, Bitmap& next) {
    return tbb::parallel_reduce(  // in whole words of the bitmaps
        Range(0, next.size(), 256), std::uint64_t{0},
        [&](const Range& range, std::uint64_t awake) {
          for (std::uint64_t word = range.begin(); word < range.end(); ++word) {
            next[word] = 0;
            for (std::uint64_t v = word * 64; v < std::min(vertices_, word * 64 + 64); ++v) {
              if (parents_[v] != none) continue;
              for (std::uint64_t e = in_.offsets[v]; e < in_.offsets[v + 1]; ++e) {
                const Vertex from = in_.neighbours[e];
                if (!(front[from / 64] >> from % 64 & 1)) continue;
                parents_[v] = from;
                next[word] |= std::uint64_t{1} << v % 64;
                ++awake;
                break;
              }
            }
          }
          return awake;
        },
        std::plus<>());
  }

  const std::uint64_t vertices_;
  const Lists out_, in_;
  std::vector<Vertex> parents_;
};

}  // namespace holdall::graph
