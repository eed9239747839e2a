// What tests make go wrong in the host driver: calls that fail, wait or end late, and seeded
// jitter.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <vector>

#include "engine/vmm/host.hpp"

namespace holdall::vmm {

// How a call is to end.
struct Ruling {
  Status status = Status::ok;        // else answer this and do nothing
  std::chrono::nanoseconds late{0};  // stream-ordered work ends so much later
};

// A pure function of its arguments, in [0, most]: what the `nth` call of a kind is late by.
std::chrono::nanoseconds jitter_of(std::uint64_t seed, Call call, std::uint64_t nth,
                                   std::chrono::nanoseconds most);

// Thread-safe; costs one atomic addition while nothing is injected.
class Injections {
 public:
  Injections(std::uint64_t seed, std::chrono::nanoseconds jitter) : seed_(seed), jitter_(jitter) {}

  // Counts the call and waits as long as the caller is to be delayed.
  Ruling enter(Call call);

  void add(const Injection& injection);
  void clear();
  std::uint64_t calls(Call call) const;

 private:
  static constexpr std::size_t kinds = static_cast<std::size_t>(Call::host_call) + 1;
  struct Planned {
    Injection injection;
    std::uint64_t first = 0;  // number of the first call that it holds for
  };

  const std::uint64_t seed_;
  const std::chrono::nanoseconds jitter_;
  std::array<std::atomic<std::uint64_t>, kinds> calls_{};
  std::atomic<bool> any_{false};
  std::mutex mutex_;
  std::vector<Planned> planned_;  // guarded by mutex_
};

}  // namespace holdall::vmm
