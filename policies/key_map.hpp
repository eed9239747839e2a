// From a chunk's key to the number of its node: open addressing with linear probing, at most half
// full. It grows and never shrinks, so a map that has held as many keys before allocates nothing.
#pragma once

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
    for (std::size_t i = home(key);; i = after(i)) {
      if (slots_[i].index == none) return none;
      if (slots_[i].key == key) return slots_[i].index;
    }
  }

  // The key is not here yet; `index` is not none.
  void insert(Key key, Index index) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    place({key, index});
    ++size_;
  }

  // Does nothing if the key is not here.
  void erase(Key key) {
    std::size_t hole = home(key);
    for (; slots_[hole].key != key || slots_[hole].index == none; hole = after(hole))
      if (slots_[hole].index == none) return;
    // Close the hole with the next key that may stand there, so that no marker is left behind.
    for (std::size_t i = after(hole); slots_[i].index != none; i = after(i)) {
      if (distance(home(slots_[i].key), i) < distance(hole, i)) continue;
      slots_[hole] = slots_[i];
      hole = i;
    }
    slots_[hole].index = none;
    --size_;
  }

 private:
  struct Slot {
    Key key{};
    Index index = none;
  };

  // Keys are often consecutive, or multiples of a power of two: mix all bits into the low ones.
  std::size_t home(Key key) const {
    std::uint64_t x = static_cast<std::uint64_t>(key);
    x = (x ^ (x >> 32)) * 0x9e3779b97f4a7c15;
    return static_cast<std::size_t>(x ^ (x >> 32)) & (slots_.size() - 1);
  }
  std::size_t after(std::size_t i) const { return (i + 1) & (slots_.size() - 1); }
  std::size_t distance(std::size_t from, std::size_t to) const {
    return (to - from) & (slots_.size() - 1);
  }

  void place(Slot slot) {
    std::size_t i = home(slot.key);
    while (slots_[i].index != none) i = after(i);
    slots_[i] = slot;
  }

  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.index != none) place(slot);
  }

  std::vector<Slot> slots_ = std::vector<Slot>(16);  // a power of two
  std::size_t size_ = 0;
};

}  // namespace holdall::policies
