#include "apps/policy/numbering.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "apps/policy/error.hpp"

namespace holdall::lab {

void Numbering::number(std::span<const std::uint64_t> keys, Id* ids) {
  constexpr std::size_t ahead = 16;
  const std::uint64_t* const key = keys.data();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i + ahead < keys.size()) {
      const std::uint64_t next = key[i + ahead];
      if (next < array_.size())
        __builtin_prefetch(array_.data() + next);
      else
        __builtin_prefetch(slots_.data() + home(next));
    }
    const std::uint64_t k = key[i];
    ids[i] = k < array_.size() && array_.data()[k] != none ? array_.data()[k] : id_of(k);
  }
}

Id Numbering::id_of(std::uint64_t key) {
  if (key < array_.size()) {
    Id& id = array_.data()[key];
    if (id == none) id = append(key);
    return id;
  }
  const Slot* const slots = slots_.data();
  for (std::size_t i = home(key);; i = (i + 1) & (slots_.size() - 1)) {
    if (slots[i].id == none) break;
    if (slots[i].key == key) return slots[i].id;
  }
  const Id id = append(key);
  // An array of up to 4 times as many numbers as there are keys, so that a few far ones do not blow
  // it up.
  if (key < 4 * (keys_.size() + 262144)) {
    grow_array(key);
    array_[key] = id;
  } else {
    if (2 * (hashed_ + 1) > slots_.size()) grow_slots();
    put(key, id);
    ++hashed_;
  }
  return id;
}

Id Numbering::append(std::uint64_t key) {
  if (keys_.size() == none)
    throw LabError("more than 4,294,967,295 distinct chunks: sample the trace first");
  keys_.push_back(key);
  return static_cast<Id>(keys_.size() - 1);
}

void Numbering::put(std::uint64_t key, Id id) {
  std::size_t i = home(key);
  while (slots_[i].id != none) i = (i + 1) & (slots_.size() - 1);
  slots_[i] = {key, id};
}

void Numbering::grow_slots() {
  std::vector<Slot> old(2 * slots_.size());
  old.swap(slots_);
  for (const Slot& slot : old)
    if (slot.id != none) put(slot.key, slot.id);
}

void Numbering::grow_array(std::uint64_t key) {
  array_.resize(std::bit_ceil(std::max<std::uint64_t>(key + 1, 4096)), none);
  std::vector<Slot> old(slots_.size());
  old.swap(slots_);
  hashed_ = 0;
  for (const Slot& slot : old) {
    if (slot.id == none) continue;
    if (slot.key < array_.size()) {
      array_[slot.key] = slot.id;
    } else {
      put(slot.key, slot.id);
      ++hashed_;
    }
  }
}

}  // namespace holdall::lab
