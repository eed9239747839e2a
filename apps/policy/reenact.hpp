// Re-enacts a recording of the engine call by call: a policy is told and asked what the engine's
// was, with the same chunks held by leases at every question, so that the same policy with the same
// budget gives the same answers. What it does not share with the engine is any code of the pager.
//
//   Reenactment again = reenact("run.trace", "lirs");
//   again.agreed == again.victims;   // every victim was the engine's
#pragma once

#include <cstdint>
#include <string>

#include "apps/policy/recording.hpp"

namespace holdall::lab {

struct Reenactment {
  Recording recording;
  std::uint64_t hits = 0, faults = 0, prefetched = 0, evictions = 0, removed = 0;
  std::uint64_t late = 0;     // of the hits: told when the chunk had left, so not to the policy
  std::uint64_t victims = 0;  // questions for a victim
  std::uint64_t agreed = 0;   // answered as in the recording
  std::string differed;       // the first that was not, for a message
};

// With the recorded policy if `policy` is empty. Throws LabError if the file is no recording, or
// contradicts itself; PolicyError if there is no such policy.
Reenactment reenact(const std::string& path, const std::string& policy = {});

}  // namespace holdall::lab
