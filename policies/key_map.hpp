// From a chunk's key to the number of its node. It grows and never shrinks, so a map that has held
// as many keys before allocates nothing.
//
// Keys below 2^20, and below four times as many as there are keys, as dense numbers are, index an
// array: 4 bytes each, 4 MiB or 16 bytes a key at most. The others are hashed: open addressing with
// linear probing, 3/5 to 3/4 full, 12 bytes a slot.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "policies/list.hpp"
#include "policies/policy.hpp"

namespace holdall::policies {

class KeyMap {
 public:
  std::size_t size() const { return size_; }

  // none if the key is not here.
  Index find(Key key) const {
    if (const auto k = static_cast<std::uint64_t>(key); k < array_size_) return array_.data()[k];
    const Slot* const slots = slots_.data();
    for (std::size_t i = home(key);; i = after(i))
      if (slots[i].index == none || slots[i].key() == key) return slots[i].index;
  }

  // Asks the processor for the place of the key.
  [[gnu::always_inline]] void prefetch(Key key) const {
    const auto k = static_cast<std::uint64_t>(key);
    policies::prefetch(k < array_size_ ? static_cast<const void*>(array_.data() + k)
                                       : static_cast<const void*>(slots_.data() + home(key)));
  }

  // The key is not here yet; `index` is not none.
  void insert(Key key, Index index) {
    ++size_;
    const auto k = static_cast<std::uint64_t>(key);
    if (k >= array_size_ && k < reach()) grow_array(k);
    if (k < array_size_) {
      array_.data()[k] = index;
      return;
    }
    if (4 * (hashed_ + 1) > 3 * slots_.size()) grow_slots();
    place(Slot(key, index));
    ++hashed_;
  }

  // Does nothing if the key is not here.
  void erase(Key key) {
    if (const auto k = static_cast<std::uint64_t>(key); k < array_size_) {
      size_ -= array_.data()[k] != none;
      array_.data()[k] = none;
      return;
    }
    Slot* const slots = slots_.data();
    std::size_t hole = home(key);
    for (; slots[hole].index == none || slots[hole].key() != key; hole = after(hole))
      if (slots[hole].index == none) return;
    // Close the hole with the next key that may stand there, so that no marker is left behind.
    for (std::size_t i = after(hole); slots[i].index != none; i = after(i)) {
      if (distance(home(slots[i].key()), i) < distance(hole, i)) continue;
      slots[hole] = slots[i];
      hole = i;
    }
    slots[hole].index = none;
    --size_;
    --hashed_;
  }

 private:
  struct Slot {
    Slot() = default;
    Slot(Key key, Index i)
        : low(static_cast<std::uint32_t>(static_cast<std::uint64_t>(key))),
          high(static_cast<std::uint32_t>(static_cast<std::uint64_t>(key) >> 32)),
          index(i) {}
    Key key() const { return Key{std::uint64_t{high} << 32 | low}; }

    std::uint32_t low = 0, high = 0;  // of the key, so that a slot has no padding
    Index index = none;
  };

  // Keys are often consecutive, or multiples of a power of two: mix all bits into the high ones.
  std::size_t home(Key key) const {
    std::uint64_t x = static_cast<std::uint64_t>(key);
    x = (x ^ (x >> 32)) * 0x9e3779b97f4a7c15;
    return static_cast<std::size_t>((((x ^ (x >> 29)) & 0xffffffff) * slots_.size()) >> 32);
  }
  std::size_t after(std::size_t i) const { return i + 1 == slots_.size() ? 0 : i + 1; }
  std::size_t distance(std::size_t from, std::size_t to) const {
    return to >= from ? to - from : to + slots_.size() - from;
  }
  std::uint64_t reach() const {  // keys below are worth an array
    return std::max<std::uint64_t>(std::uint64_t{1} << 20, 4 * size_);
  }

  void place(Slot slot) {
    std::size_t i = home(slot.key());
    while (slots_[i].index != none) i = after(i);
    slots_[i] = slot;
  }

  void grow_slots() { rehash(slots_.size() + slots_.size() / 4 + 1); }

  void grow_array(std::uint64_t key) {
    const std::uint64_t size = std::min(reach(), std::max(key + 1, array_size_ + array_size_ / 4));
    array_.reserve(size);
    array_.resize(size, none);
    array_size_ = array_.size();
    rehash(slots_.size());
  }

  void rehash(std::size_t size) {
    std::vector<Slot> old(size);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.index == none) continue;
      if (const auto k = static_cast<std::uint64_t>(slot.key()); k < array_size_) {
        array_[k] = slot.index;
        --hashed_;
      } else {
        place(slot);
      }
    }
  }

  std::vector<Index> array_;  // of the keys below array_size_
  std::size_t array_size_ = 0;
  std::vector<Slot> slots_ = std::vector<Slot>(16);
  std::size_t hashed_ = 0;  // keys in slots_
  std::size_t size_ = 0;
};

}  // namespace holdall::policies
