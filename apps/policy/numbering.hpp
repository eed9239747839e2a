// Chunks numbered from 0 on in the order of their first appearance, so that everything behind is an
// array.
//
// Small numbers are looked up in an array, others in a hash table; either is asked for a batch at
// once, so that the misses of the processor's cache overlap.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace holdall::lab {

using Id = std::uint32_t;  // of a distinct chunk of a trace

class Numbering {
 public:
  std::size_t distinct() const { return keys_.size(); }
  const std::vector<std::uint64_t>& keys() const { return keys_; }  // by id

  // ids[i] is that of keys[i]. Throws LabError past 2^32 - 1 distinct keys.
  void number(std::span<const std::uint64_t> keys, Id* ids);

 private:
  struct Slot {
    std::uint64_t key = 0;
    Id id = none;
  };
  static constexpr Id none = ~Id{0};

  Id id_of(std::uint64_t key);
  Id append(std::uint64_t key);
  std::size_t home(std::uint64_t key) const {
    std::uint64_t x = (key ^ (key >> 32)) * 0x9e3779b97f4a7c15;
    return (x ^ (x >> 32)) & (slots_.size() - 1);
  }
  void put(std::uint64_t key, Id id);
  void grow_slots();
  void grow_array(std::uint64_t key);

  std::vector<std::uint64_t> keys_;
  std::vector<Id> array_;                              // of the keys below its size
  std::vector<Slot> slots_ = std::vector<Slot>(1024);  // of the others; at most half full
  std::size_t hashed_ = 0;
};

}  // namespace holdall::lab
