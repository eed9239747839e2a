// Searches in ascending arrays, for host and device code alike.
#pragma once

#include <cstdint>

namespace holdall::kernels {

// The last i in [from, count) with values[i] <= key, given that values[from] <= key: over offsets,
// the vertex that owns an edge. Doubles its stride from `from`, so a near answer is cheap.
constexpr std::uint64_t last_at_most(const std::uint64_t* values, std::uint64_t count,
                                     std::uint64_t key, std::uint64_t from = 0) {
  std::uint64_t low = from;
  std::uint64_t step = 1;
  while (step < count - low && values[low + step] <= key) {
    low += step;
    step *= 2;
  }
  std::uint64_t high = step < count - low ? low + step : count;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (values[middle] <= key) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

// The first i in [0, count) with values[i] >= key; count if there is none.
template <typename T>
constexpr std::uint64_t first_at_least(const T* values, std::uint64_t count, std::uint64_t key) {
  std::uint64_t low = 0;
  std::uint64_t high = count;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (values[middle] < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace holdall::kernels
