// How many leases a thread holds, so that a wait for its own leases is seen to be endless.
#pragma once

#include <atomic>

namespace holdall {

struct alignas(64) ThreadLeases {
  std::atomic<int> live{0};
};

// The calling thread's; stays valid after the thread has ended.
ThreadLeases& this_thread_leases();

}  // namespace holdall
