#include "engine/vmm/host/pins.hpp"

#include <iterator>

namespace holdall::vmm {

bool PinTable::add(Address at, Bytes bytes) {
  const auto after = pins_.lower_bound(at);
  if (after != pins_.end() && after->first < at + bytes) return false;
  if (after != pins_.begin()) {
    const auto& [begin, size] = *std::prev(after);
    if (begin + size > at) return false;
  }
  pins_.emplace(at, bytes);
  total_ += bytes;
  return true;
}

Bytes PinTable::remove(Address at) {
  const auto it = pins_.find(at);
  if (it == pins_.end()) return 0;
  const Bytes bytes = it->second;
  pins_.erase(it);
  total_ -= bytes;
  return bytes;
}

bool PinTable::covers(Address at, Bytes bytes) const {
  const auto after = pins_.upper_bound(at);
  if (after == pins_.begin()) return false;
  const auto& [begin, size] = *std::prev(after);
  return at + bytes <= begin + size;
}

}  // namespace holdall::vmm
