#include "engine/vmm/host/flight.hpp"

#include <algorithm>

namespace holdall::vmm {

InFlight::Ticket InFlight::add(Address at, Bytes bytes, HostStream& stream) {
  longest_ = std::max(longest_, bytes);
  return intervals_.emplace(at, Interval{at + bytes, &stream});
}

std::vector<HostStream*> InFlight::touching(Address at, Bytes bytes) const {
  std::vector<HostStream*> found;
  const Address end = at + bytes;
  for (auto it = intervals_.lower_bound(at - std::min(at, longest_));
       it != intervals_.end() && it->first < end; ++it)
    if (it->second.end > at) found.push_back(it->second.stream);
  return found;
}

}  // namespace holdall::vmm
