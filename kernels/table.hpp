// What kernels see of an embedding table. Its rows lie at *positions*; those below `hot_rows` in
// device memory, the others in pinned host memory, perhaps as a narrower type; each at its position
// times the stride from `hot` or `cold`. A key leads to an *entry*, an entry to a position: for
// dense ids the key is the entry, for hashed keys the slot that holds the key.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/row.hpp"

namespace holdall::kernels {

constexpr std::uint32_t nowhere = 0xFFFF'FFFF;           // no position
constexpr std::uint64_t empty_slot = ~std::uint64_t{0};  // no key
constexpr std::uint64_t erased_slot = empty_slot - 1;    // no key any more

// A row in memory.
struct RowAt {
  std::byte* at = nullptr;  // nullptr: none, the fallback
  RowType type = RowType::fp32;
};

struct TableView {
  RowLayout row;
  RowLayout cold_row;  // of the same dimension
  std::byte* hot = nullptr;
  std::byte* cold = nullptr;
  std::uint32_t hot_rows = 0;
  std::uint32_t* entries =
      nullptr;  // a position or nowhere each; nullptr: an entry is its own position
  std::uint64_t entry_count = 0;    // hashed: a power of two
  std::uint64_t* keys = nullptr;    // [entry_count]; nullptr: dense ids
  const float* fallback = nullptr;  // [dim], the row of an unknown key; nullptr: zeros
  bool moving = false;              // rows may be moved while kernels read: no caching in L1

  constexpr RowAt hot_at(std::uint32_t position) const {
    return {hot + std::uint64_t{position} * row.stride, row.type};
  }
  // Row i of `rows`, which are as those on the host.
  constexpr RowAt cold_in(std::byte* rows, std::uint64_t i) const {
    return {rows + i * cold_row.stride, cold_row.type};
  }
  constexpr RowAt cold_at(std::uint32_t position) const { return cold_in(cold, position); }
  constexpr RowAt at(std::uint32_t position) const {
    const bool is_hot = position < hot_rows;  // selected, not branched: loads stay side by side
    return {
        (is_hot ? hot : cold) + std::uint64_t{position} * (is_hot ? row.stride : cold_row.stride),
        is_hot ? row.type : cold_row.type};
  }
  constexpr bool one_type() const { return row.type == cold_row.type; }
};

// Counts of how often entries are asked for: of those that are asked for often, one key in `one_in`
// (a power of two) tells.
struct Counting {
  std::uint32_t* counts = nullptr;  // two counts of 16 bits a word; nullptr: nobody counts
  std::uint32_t one_in = 1;
  std::uint32_t seed = 0;  // of each batch
};

// What look-ups saw. On the device; only grows.
struct LookupCounts {
  std::uint64_t keys = 0;
  std::uint64_t cold = 0;
  std::uint64_t missing = 0;
  std::uint64_t bad_offsets = 0;  // of bags: decreasing, or past the end
};

// The mixing of SplitMix64: where a key's probing begins.
constexpr std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// The entry of a key; entry_count: there is none. `load` reads a word of the table that others may
// be writing.
template <typename Load>
constexpr std::uint64_t entry_of(const TableView& table, std::uint64_t key, Load load) {
  if (table.keys == nullptr) return key < table.entry_count ? key : table.entry_count;
  if (key >= erased_slot) return table.entry_count;
  const std::uint64_t mask = table.entry_count - 1;
  std::uint64_t slot = mixed(key) & mask;
  for (std::uint64_t i = 0; i < table.entry_count; ++i, slot = (slot + 1) & mask) {
    const std::uint64_t there = load(table.keys + slot);
    if (there == key) return slot;
    if (there == empty_slot) break;
  }
  return table.entry_count;
}

// Where an entry's row is, or nowhere.
template <typename Load>
constexpr std::uint32_t position_of(const TableView& table, std::uint64_t entry, Load load) {
  if (entry >= table.entry_count) return nowhere;
  return table.entries == nullptr ? static_cast<std::uint32_t>(entry) : load(table.entries + entry);
}

constexpr std::uint32_t most_counted = 16'384;  // or a little more; two counts share a word

// What a key adds to the count of its entry, `count` so far. At the border between hot and cold
// rows a count of 1 or 2 decides, so that small ones are exact; above, one key in `one_in` adds for
// all.
constexpr std::uint32_t weight_of(const Counting& counting, std::uint64_t i, std::uint32_t count) {
  constexpr std::uint32_t small = 4;
  if (count < small) return 1;
  const bool sampled =
      (mixed(i + (std::uint64_t{counting.seed} << 32)) & (counting.one_in - 1)) == 0;
  return sampled && count < most_counted ? counting.one_in : 0;
}

}  // namespace holdall::kernels
