// Host memory that was pinned. The host driver only keeps account of it: its copies reach all
// memory.
#pragma once

#include <map>

#include "engine/vmm/host/sticky.hpp"

namespace holdall::vmm {

// Not thread-safe.
class PinTable {
 public:
  // False: a page of it is pinned already.
  bool add(Address at, Bytes bytes);
  // Bytes unpinned; 0: nothing is pinned from `at` on.
  Bytes remove(Address at);
  bool covers(Address at, Bytes bytes) const;
  Bytes total() const { return total_; }

 private:
  std::map<Address, Bytes> pins_;
  Bytes total_ = 0;
};

}  // namespace holdall::vmm
