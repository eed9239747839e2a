// How host bodies go over the edges and the items of a pass.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "kernels/demand.hpp"
#include "kernels/search.hpp"

namespace holdall::kernels {

// visit(item, edge, neighbour) for every edge of the pass, by all threads.
template <typename Visit>
void visit_edges(const WorkItems& items, const ItemPass& pass, const Vertex* neighbours,
                 const Visit& visit) {
  using Range = tbb::blocked_range<std::uint64_t>;
  constexpr std::uint64_t grain = 16384;
  tbb::parallel_for(std::uint64_t{0}, pass.ranges_count, [&](std::uint64_t r) {
    const ItemRange range = pass.ranges[r];
    const std::uint64_t items_end = range.first + range.count;
    // Edges are numbered through all items.
    tbb::parallel_for(
        Range(items.scan[range.first], items.scan[items_end], grain), [&](const Range& part) {
          std::uint64_t item = last_at_most(items.scan, items_end, part.begin(), range.first);
          for (std::uint64_t at = part.begin(); at < part.end(); ++item) {
            const std::uint64_t end = std::min(items.scan[item + 1], part.end());
            std::uint64_t edge = items.begins[item] + (at - items.scan[item]);
            for (; at < end; ++at, ++edge) visit(item, edge, neighbours[edge]);
          }
        });
  });
}

// visit(item) for every item of the pass, by all threads.
template <typename Visit>
void visit_items(const ItemPass& pass, const Visit& visit) {
  using Range = tbb::blocked_range<std::uint64_t>;
  tbb::parallel_for(std::uint64_t{0}, pass.ranges_count, [&](std::uint64_t r) {
    const ItemRange range = pass.ranges[r];
    tbb::parallel_for(Range(range.first, range.first + range.count, 512), [&](const Range& part) {
      for (std::uint64_t item = part.begin(); item < part.end(); ++item) visit(item);
    });
  });
}

// True for the one caller that sets the bit first.
inline bool set_bit(std::uint64_t* bits, std::uint64_t i) {
  const std::atomic_ref word(bits[i / 64]);
  const std::uint64_t bit = std::uint64_t{1} << i % 64;
  if ((word.load(std::memory_order_relaxed) & bit) != 0) return false;
  return (word.fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
}

// True if `value` was the smaller one, and is there now.
template <typename T>
bool lower(T& at, T value) {
  const std::atomic_ref cell(at);
  T now = cell.load(std::memory_order_relaxed);
  while (value < now)
    if (cell.compare_exchange_weak(now, value, std::memory_order_relaxed)) return true;
  return false;
}

// The bits of [0, count) for which is(i) holds; those past the last are 0.
template <typename Is>
void write_bits(std::uint64_t count, std::uint64_t* bits, const Is& is) {
  using Range = tbb::blocked_range<std::uint64_t>;
  tbb::parallel_for(Range(0, bitmap_words(count), 512), [&](const Range& part) {
    for (std::uint64_t w = part.begin(); w < part.end(); ++w) {
      std::uint64_t word = 0;
      const std::uint64_t end = std::min(w * 64 + 64, count);
      for (std::uint64_t i = w * 64; i < end; ++i) word |= std::uint64_t{is(i)} << i % 64;
      bits[w] = word;
    }
  });
}

}  // namespace holdall::kernels
