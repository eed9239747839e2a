// Replays in which a prefetcher (policies/prefetch.hpp) brings in more than was asked for.
//
// Neighbours are chunks with consecutive numbers: in each range of a trace, between the least and
// the greatest that it asks for, whether it asks for those between or not. What is brought in has
// the size of the chunk that was asked for.
#pragma once

#include <string>

#include "apps/policy/replay.hpp"
#include "apps/policy/trace.hpp"

namespace holdall::lab {

// `prefetch` is a spec: "next:n=4". Throws PolicyError, LabError.
Counts replay_prefetching(const Trace& trace, const std::string& policy,
                          const std::string& prefetch, const ReplayOptions& options);

}  // namespace holdall::lab
