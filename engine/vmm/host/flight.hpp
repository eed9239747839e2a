// The memory that copies and fills, queued or running, will touch: an unmap asks here whom it
// hurts.
#pragma once

#include <map>
#include <vector>

#include "engine/vmm/host/stream.hpp"

namespace holdall::vmm {

// Not thread-safe.
class InFlight {
 public:
  struct Interval {
    Address end = 0;
    HostStream* stream = nullptr;
  };
  using Ticket = std::multimap<Address, Interval>::iterator;

  Ticket add(Address at, Bytes bytes, HostStream& stream);
  void remove(Ticket ticket) { intervals_.erase(ticket); }
  // One for each piece of work that touches [at, at + bytes).
  std::vector<HostStream*> touching(Address at, Bytes bytes) const;

 private:
  std::multimap<Address, Interval> intervals_;  // by begin
  Bytes longest_ = 0;                           // ever: bounds how far left a search must start
};

}  // namespace holdall::vmm
