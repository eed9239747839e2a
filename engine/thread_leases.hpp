// How many leases a thread holds, so that a wait for its own leases is seen to be endless.
#pragma once

#include <atomic>

namespace holdall {

struct alignas(64) ThreadLeases {
  std::atomic<int> live{0};
  std::atomic<bool> pinning{false};  // it pins chunks right now that are no lease's yet
};

// The calling thread's; stays valid after the thread has ended.
ThreadLeases& this_thread_leases();
// Whether any thread pins chunks right now that are no lease's yet: such pins become a lease's
// soon, or go.
bool any_thread_pins();

}  // namespace holdall
