// Which requests need their chunk; the others are hints, prefetches and removals.
#pragma once

#include "apps/policy/trace.hpp"

namespace holdall::lab {

inline bool demands(const Requests& requests, std::size_t i) {
  return requests.kinds.empty() || requests.kinds[i] <= trace_overwrite;
}

}  // namespace holdall::lab
