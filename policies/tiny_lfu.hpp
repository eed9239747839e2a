// TinyLFU: how often a chunk was asked for lately, resident or not, in a few bits, and whether a
// newcomer is worth a resident chunk. Einziger, Friedman and Manes, "TinyLFU: a highly efficient
// cache admission policy", ACM Transactions on Storage 13(4), 2017. The hash functions, the ageing
// and the chance of warm losers are those of Caffeine, so that counts agree with its simulator.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "policies/list.hpp"
#include "policies/policy.hpp"

namespace holdall::policies {

// A count-min sketch of 4-bit counters, 16 a word; every key has one counter in each of 4 words.
// All are halved after 10 additions for every word.
class FrequencySketch {
 public:
  static constexpr unsigned most = 15;

  // Room for the uses of so many chunks. Growing forgets all counts; it never shrinks.
  void reserve(std::uint64_t chunks) {
    const std::uint64_t words = std::bit_ceil(std::clamp<std::uint64_t>(chunks, 1, 1u << 30));
    if (words <= words_.size()) return;
    words_.assign(words, 0);
    additions_ = 0;
  }

  void add(Key key) {
    const std::uint32_t hash = spread(key);
    bool added = false;
    for (unsigned i = 0; i < 4; ++i) {
      std::uint64_t& word = words_[slot(hash, i)];
      const unsigned shift = bit(hash, i);
      if ((word >> shift & most) == most) continue;
      word += std::uint64_t{1} << shift;
      added = true;
    }
    if (added && ++additions_ == 10 * words_.size()) halve();
  }

  // Asks the processor for the key's counters.
  [[gnu::always_inline]] void prefetch(Key key) const {
    const std::uint32_t hash = spread(key);
    for (unsigned i = 0; i < 4; ++i) policies::prefetch(words_.data() + slot(hash, i));
  }

  unsigned count(Key key) const {
    const std::uint32_t hash = spread(key);
    unsigned least = most;
    for (unsigned i = 0; i < 4; ++i)
      least = std::min(least, static_cast<unsigned>(words_[slot(hash, i)] >> bit(hash, i) & most));
    return least;
  }

 private:
  static std::uint32_t spread(Key key) {
    const std::uint64_t k = static_cast<std::uint64_t>(key);
    std::uint32_t x = static_cast<std::uint32_t>(k ^ k >> 32);
    x = (x >> 16 ^ x) * 0x45d9f3b;
    x = (x >> 16 ^ x) * 0x45d9f3b;
    return x >> 16 ^ x;
  }
  static unsigned bit(std::uint32_t hash, unsigned i) { return 4 * (4 * (hash & 3) + i); }
  std::size_t slot(std::uint32_t hash, unsigned i) const {
    constexpr std::uint64_t seeds[4] = {0xc3a5c85c97cb3127, 0xb492b66fbe98f273, 0x9ae16a3b2f90404f,
                                        0xcbf29ce484222325};
    const auto extended = static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(hash)});
    std::uint64_t x = (extended + seeds[i]) * seeds[i];
    x += x >> 32;
    return static_cast<std::size_t>(x) & (words_.size() - 1);
  }

  // What the halving rounds off is taken from the additions too: a quarter, as a key has 4
  // counters.
  void halve() {
    std::uint64_t odd = 0;
    for (std::uint64_t& word : words_) {
      odd += static_cast<std::uint64_t>(std::popcount(word & 0x1111111111111111));
      word = word >> 1 & 0x7777777777777777;
    }
    additions_ = (additions_ - odd / 4) / 2;
  }

  std::vector<std::uint64_t> words_ = std::vector<std::uint64_t>(1);  // a power of two of them
  std::uint64_t additions_ = 0;
};

class TinyLfu {
 public:
  explicit TinyLfu(std::uint64_t seed) : state_((seed ^ multiplier) & mask) {}

  void reserve(std::uint64_t chunks) { sketch_.reserve(chunks); }
  void used(Key key) { sketch_.add(key); }
  [[gnu::always_inline]] void prefetch(std::span<const Key> keys) const {
    for (const Key key : keys) sketch_.prefetch(key);
  }

  // Is `newcomer` to take the place of `resident`? If it was asked for more often; a warm one now
  // and then even so, lest an attacker or an unlucky collision keep it out for good.
  bool prefers(Key newcomer, Key resident) {
    const unsigned count = sketch_.count(newcomer);
    return count > sketch_.count(resident) || (count >= warm && draw() < 1u << (24 - 7));
  }

 private:
  static constexpr unsigned warm = 6;
  static constexpr std::uint64_t multiplier = 0x5deece66d, mask = (std::uint64_t{1} << 48) - 1;

  // 24 bits of the linear congruential generator that drand48 and Java use.
  std::uint64_t draw() {
    state_ = (state_ * multiplier + 11) & mask;
    return state_ >> 24;
  }

  FrequencySketch sketch_;
  std::uint64_t state_;
};

}  // namespace holdall::policies
