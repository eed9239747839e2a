#include "engine/vmm/host/injection.hpp"

#include <thread>

namespace holdall::vmm {

namespace {

// SplitMix64's finisher (Steele, Lea, Flood, OOPSLA 2014).
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

bool stream_ordered(Call call) {
  return call == Call::copy || call == Call::fill || call == Call::record || call == Call::wait ||
         call == Call::host_call;
}

}  // namespace

std::chrono::nanoseconds jitter_of(std::uint64_t seed, Call call, std::uint64_t nth,
                                   std::chrono::nanoseconds most) {
  if (most.count() <= 0) return std::chrono::nanoseconds{0};
  const std::uint64_t draw = mix(mix(seed) ^ mix(nth * 64 + static_cast<std::uint64_t>(call)));
  return std::chrono::nanoseconds(draw % (static_cast<std::uint64_t>(most.count()) + 1));
}

Ruling Injections::enter(Call call) {
  const auto kind = static_cast<std::size_t>(call);
  const std::uint64_t nth = calls_[kind].fetch_add(1, std::memory_order_relaxed) + 1;
  Ruling ruling;
  std::chrono::nanoseconds delay{0};
  (stream_ordered(call) ? ruling.late : delay) = jitter_of(seed_, call, nth, jitter_);
  if (any_.load(std::memory_order_acquire)) {
    const std::lock_guard lock(mutex_);
    for (const auto& [injection, first] : planned_) {
      if (injection.call != call || nth < first || nth - first >= injection.times) continue;
      if (ruling.status == Status::ok) ruling.status = injection.status;
      delay += injection.delay;
      ruling.late += injection.late;
    }
  }
  if (delay.count() > 0) std::this_thread::sleep_for(delay);
  return ruling;
}

void Injections::add(const Injection& injection) {
  const std::lock_guard lock(mutex_);
  planned_.push_back({injection, calls(injection.call) + injection.nth});
  any_.store(true, std::memory_order_release);
}

void Injections::clear() {
  const std::lock_guard lock(mutex_);
  planned_.clear();
  any_.store(false, std::memory_order_release);
}

std::uint64_t Injections::calls(Call call) const {
  return calls_[static_cast<std::size_t>(call)].load(std::memory_order_relaxed);
}

}  // namespace holdall::vmm
