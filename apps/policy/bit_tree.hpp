// A set of numbers below a bound: its members counted below a number and its largest found, in a
// few steps.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace holdall::lab {

// Counts members from a number on. A line of 512 bits is counted by its words, lines by a Fenwick
// tree.
class CountingSet {
 public:
  explicit CountingSet(std::size_t bound)
      : words_((bound / line + 1) * words_in_line), sums_(std::bit_ceil(bound / line + 2)) {}

  void insert(std::size_t n) { change(n, 1); }
  void erase(std::size_t n) { change(n, ~std::uint32_t{0}); }

  // How many members are below n.
  std::size_t below(std::size_t n) const {
    std::size_t sum = 0;
    for (std::size_t i = n / line; i > 0; i &= i - 1) sum += sums_.data()[i];
    const std::uint64_t* const words = words_.data();
    std::size_t w = n / line * words_in_line;
    for (; w < n / 64; ++w) sum += static_cast<std::size_t>(std::popcount(words[w]));
    return sum +
           static_cast<std::size_t>(std::popcount(words[w] & ((std::uint64_t{1} << n % 64) - 1)));
  }

 private:
  static constexpr std::size_t words_in_line = 8, line = 64 * words_in_line;

  void change(std::size_t n, std::uint32_t by) {
    words_.data()[n / 64] ^= std::uint64_t{1} << n % 64;
    for (std::size_t i = n / line + 1; i < sums_.size(); i += i & (0 - i)) sums_.data()[i] += by;
  }

  std::vector<std::uint64_t> words_;
  std::vector<std::uint32_t>
      sums_;  // Fenwick: entry i sums the lines (i - lowest bit of i, i], counted from 1
};

// Finds the largest member. Each level has a bit for each word of the one below that is not empty.
class OrderedSet {
 public:
  explicit OrderedSet(std::size_t bound) {
    do {
      bound = bound / 64 + 1;
      levels_.emplace_back(bound);
    } while (bound > 1);
  }

  void insert(std::size_t n) {
    for (auto& level : levels_) {
      level.data()[n / 64] |= std::uint64_t{1} << n % 64;
      n /= 64;
    }
  }
  void erase(std::size_t n) {
    for (auto& level : levels_) {
      if (level.data()[n / 64] &= ~(std::uint64_t{1} << n % 64)) return;
      n /= 64;
    }
  }
  bool contains(std::size_t n) const { return levels_[0].data()[n / 64] >> n % 64 & 1; }
  std::size_t largest() const {  // the set is not empty
    std::size_t n = 0;
    for (std::size_t i = levels_.size(); i-- > 0;)
      n = n * 64 + static_cast<std::size_t>(std::bit_width(levels_[i].data()[n])) - 1;
    return n;
  }

 private:
  std::vector<std::vector<std::uint64_t>> levels_;
};

}  // namespace holdall::lab
