// A policy that is recorded: all that it is told and asked goes into the trace, in order, so that
// the lab can re-enact it call by call (apps/policy/reenact.hpp). Hits and chunks that come in are
// left to the pager, who knows leases and kinds.
#pragma once

#include <memory>

#include "engine/trace.hpp"
#include "policies/policy.hpp"

namespace holdall {

// `writer` outlives it. `device`: whose chunks they are.
std::unique_ptr<Policy> record_policy(std::unique_ptr<Policy> policy, TraceWriter& writer,
                                      int device);

}  // namespace holdall
