// Counts to offsets, in place.
#pragma once

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_scan.h>

#include <cstdint>
#include <functional>
#include <span>

namespace holdall::graph {

// Each value becomes the sum of those before it. Returns the sum of all. In parallel.
inline std::uint64_t exclusive_scan(std::span<std::uint64_t> values) {
  using Range = tbb::blocked_range<std::uint64_t>;
  return tbb::parallel_scan(
      Range(0, values.size(), 1 << 14), std::uint64_t{0},
      [&](const Range& range, std::uint64_t sum, bool final) {
        for (std::uint64_t i = range.begin(); i < range.end(); ++i) {
          const std::uint64_t value = values[i];
          if (final) values[i] = sum;
          sum += value;
        }
        return sum;
      },
      std::plus<>());
}

}  // namespace holdall::graph
