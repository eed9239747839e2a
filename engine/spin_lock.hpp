// A lock for stretches of some ten instructions, where a mutex would cost more than what it guards.
#pragma once

#include <atomic>
#include <thread>

namespace holdall {

class SpinLock {
 public:
  void lock() {
    for (int tries = 0; held_.exchange(true, std::memory_order_acquire);)
      while (held_.load(std::memory_order_relaxed))
        if (++tries < 100)
          __builtin_ia32_pause();
        else
          std::this_thread::yield();  // its holder may not be running
  }
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

}  // namespace holdall
