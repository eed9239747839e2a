#include "kernels/crew.hpp"

#include <algorithm>
#include <chrono>

namespace holdall::kernels {

namespace {

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

}  // namespace

Crew::Crew(unsigned threads) {
  threads_.reserve(threads);
  for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { wait_and_work(); });
}

Crew::~Crew() {
  stopping_ = true;
  turn_.fetch_add(std::uint64_t{1} << 2 * bits);
  turn_.notify_all();
}

Crew& Crew::of_this_machine() {
  static Crew crew(std::clamp(std::thread::hardware_concurrency(), 3u, 19u) - 3);
  return crew;
}

bool Crew::work() {
  constexpr std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  std::uint64_t seen = turn_.load(std::memory_order_acquire);
  do {
    if ((seen & mask) >= (seen >> bits & mask)) return false;
  } while (!turn_.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel));
  call_(body_, static_cast<std::uint32_t>(seen & mask));
  finished_.fetch_add(1, std::memory_order_release);
  return true;
}

void Crew::run(std::uint32_t pieces, const void* body, Call call) {
  if (pieces == 0) return;
  const std::scoped_lock hold(running_);
  body_ = body;
  call_ = call;
  finished_.store(0, std::memory_order_relaxed);
  const std::uint64_t number = (turn_.load(std::memory_order_relaxed) >> 2 * bits) + 1;
  turn_.store(number << 2 * bits | std::uint64_t{pieces} << bits, std::memory_order_release);
  turn_.notify_all();
  while (work()) {
  }
  while (finished_.load(std::memory_order_acquire) < pieces) pause();
}

void Crew::wait_and_work() {
  using Clock = std::chrono::steady_clock;
  constexpr auto awake = std::chrono::microseconds(500);
  auto until = Clock::now() + awake;
  for (;;) {
    // In this order: who sees the last turn sees that it is the last, and does not sleep behind it.
    const std::uint64_t seen = turn_.load(std::memory_order_acquire);
    if (stopping_) return;
    if (work()) {
      while (work()) {
      }
      until = Clock::now() + awake;
    } else if (Clock::now() < until) {
      for (int i = 0; i < 16; ++i) pause();
    } else {
      turn_.wait(seen, std::memory_order_acquire);
      until = Clock::now() + awake;
    }
  }
}

}  // namespace holdall::kernels
