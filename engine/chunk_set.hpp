// A set of chunks of one range, as a bitmap: bit i of word i/64 is chunk i.
//
//   ChunkSet set(edges.chunks());
//   set.add(3, 5);                      // chunks 3 to 7
//   auto lease = engine.acquire(stream, {read(edges, set)});
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace holdall {

// Consecutive chunks.
struct ChunkRun {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  friend bool operator==(const ChunkRun&, const ChunkRun&) = default;
};

class ChunkSet {
 public:
  ChunkSet() = default;
  explicit ChunkSet(std::uint64_t chunks) : size_(chunks), words_((chunks + 63) / 64) {}
  // Takes the first `chunks` bits of a bitmap, such as one that a kernel wrote.
  ChunkSet(std::span<const std::uint64_t> words, std::uint64_t chunks)
      : size_(chunks), words_(words.begin(), words.begin() + static_cast<long>((chunks + 63) / 64)) {
    if (chunks % 64) words_.back() &= (std::uint64_t{1} << chunks % 64) - 1;
  }

  void add(std::uint64_t first, std::uint64_t count = 1) {
    for (std::uint64_t i = first; i < first + count; ++i) words_[i / 64] |= std::uint64_t{1} << i % 64;
  }
  void remove(std::uint64_t chunk) { words_[chunk / 64] &= ~(std::uint64_t{1} << chunk % 64); }
  bool contains(std::uint64_t chunk) const { return words_[chunk / 64] >> chunk % 64 & 1; }
  void clear() { words_.assign(words_.size(), 0); }

  std::uint64_t size() const { return size_; }  // chunks that it could hold
  std::uint64_t count() const {                 // chunks that it holds
    std::uint64_t n = 0;
    for (const std::uint64_t word : words_) n += static_cast<std::uint64_t>(std::popcount(word));
    return n;
  }
  std::span<const std::uint64_t> words() const { return words_; }

  // Its chunks as runs, ascending, the longest that there are.
  std::vector<ChunkRun> runs() const {
    std::vector<ChunkRun> runs;
    for (std::uint64_t w = 0; w < words_.size(); ++w)
      for (std::uint64_t word = words_[w]; word; word &= word - 1) {
        const std::uint64_t chunk = w * 64 + static_cast<std::uint64_t>(std::countr_zero(word));
        if (!runs.empty() && runs.back().first + runs.back().count == chunk)
          ++runs.back().count;
        else
          runs.push_back({chunk, 1});
      }
    return runs;
  }

 private:
  std::uint64_t size_ = 0;
  std::vector<std::uint64_t> words_;
};

}  // namespace holdall
