#include "engine/thread_leases.hpp"

#include <algorithm>
#include <deque>
#include <mutex>
#include <vector>

namespace holdall {

namespace {

// Entries are reused by later threads: one that still counts a lease is not given out again.
struct Pool {
  std::mutex lock;
  std::deque<ThreadLeases> entries;
  std::vector<ThreadLeases*> idle;
};

Pool& pool() {
  static Pool* const pool = new Pool;  // outlives every thread
  return *pool;
}

struct Entry {
  Entry() {
    const std::scoped_lock hold(pool().lock);
    for (ThreadLeases*& candidate : pool().idle)
      if (candidate->live == 0) {
        leases = candidate;
        candidate = pool().idle.back();
        pool().idle.pop_back();
        return;
      }
    leases = &pool().entries.emplace_back();
  }
  ~Entry() {
    const std::scoped_lock hold(pool().lock);
    pool().idle.push_back(leases);
  }
  ThreadLeases* leases = nullptr;
};

}  // namespace

ThreadLeases& this_thread_leases() {
  thread_local Entry entry;
  return *entry.leases;
}

bool any_thread_pins() {
  const std::scoped_lock hold(pool().lock);
  return std::ranges::any_of(pool().entries,
                             [](const ThreadLeases& t) { return t.pinning.load(); });
}

}  // namespace holdall
