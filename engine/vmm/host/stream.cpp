#include "engine/vmm/host/stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "engine/vmm/error.hpp"
#include "engine/vmm/host.hpp"

namespace holdall::vmm {

namespace {
// Streams that ended. TBB gives the memory of an ended thread to others in ways that
// ThreadSanitizer can't see; this shows it the order.
constinit std::atomic<unsigned> ended{0};
}  // namespace

void Marker::pass() {
  const std::lock_guard lock(mutex_);
  passed_ = true;
  changed_.notify_all();  // under the lock: a waiter may free the marker once it can take it
}

bool Marker::passed() const {
  const std::lock_guard lock(mutex_);
  if (!passed_) stream_.hurry();
  return passed_;
}

void Marker::wait() const {
  std::unique_lock lock(mutex_);
  if (!passed_) stream_.hurry();
  changed_.wait(lock, [this] { return passed_; });
}

HostStream::HostStream(int device, Sticky& sticky, unsigned number, std::function<void()> mend)
    : device_(device),
      sticky_(sticky),
      number_(number),
      mend_(std::move(mend)),
      arena_(StreamArena::take(sticky, number)),
      worker_([this] { work(); }) {}

HostStream::~HostStream() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  arrived_.notify_one();
  worker_.join();
  arena_.give();
}

void HostStream::post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(work));
    ++posted_;
    if (busy_ || held_ > 0) return;  // who is at it looks again
  }
  arrived_.notify_one();
}

void HostStream::hold() {
  const std::lock_guard lock(mutex_);
  ++held_;
}

void HostStream::let_go() {
  {
    const std::lock_guard lock(mutex_);
    if (--held_ > 0 || busy_ || queue_.empty()) return;
  }
  arrived_.notify_one();
}

void HostStream::hurry() {
  const std::lock_guard lock(mutex_);
  if (held_ > 0 && !busy_ && !queue_.empty()) arrived_.notify_one();
}

void HostStream::post_guarded(const char* what, std::function<void()> work) {
  post([this, what, work = std::move(work)] {
    if (sticky_.lost()) return;
    const auto threw = [&](const char* message) {
      sticky_.set(nullptr, fmt::format("a {} of stream {} threw: {}", what, number_, message));
    };
    try {
      work();
    } catch (const std::exception& error) {
      threw(error.what());
    } catch (...) {
      threw("not a std::exception");
    }
  });
}

void HostStream::synchronize() {
  std::unique_lock lock(mutex_);
  const std::uint64_t all = posted_;
  while (done_ < all) {
    if (!busy_) {
      run_first(lock);
      continue;
    }
    wanted_ = std::min(wanted_, all);
    passed_.wait(lock);
  }
  // What came meanwhile is another's.
  if (busy_ || queue_.empty()) return;
  if (wanted_ != nobody)
    passed_.notify_all();
  else if (held_ == 0)
    arrived_.notify_one();
}

void HostStream::run_first(std::unique_lock<std::mutex>& lock) noexcept {
  std::function<void()> work = std::move(queue_.front());
  queue_.pop_front();
  busy_ = true;
  lock.unlock();
  {
    const StreamArena::Scope scope(arena_);
    (void)ended.load(std::memory_order_acquire);
    work();
  }
  if (sticky_.lost()) mend_();
  work = nullptr;
  lock.lock();
  busy_ = false;
  if (++done_ < wanted_) return;
  wanted_ = nobody;
  passed_.notify_all();
}

void HostStream::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    arrived_.wait(lock, [this] { return !busy_ && (closing_ || !queue_.empty()); });
    if (queue_.empty()) break;
    run_first(lock);
  }
  ended.fetch_add(1, std::memory_order_release);
}

Unhurried::Unhurried(Stream stream) : stream_(stream.on_host() ? stream.host() : nullptr) {
  if (stream_ != nullptr) stream_->hold();
}
Unhurried::~Unhurried() {
  if (stream_ != nullptr) stream_->let_go();
}

void launch(Stream stream, std::function<void()> kernel) {
  HostStream* on = stream.on_host() ? stream.host() : nullptr;
  if (on == nullptr)
    throw DriverError(Status::invalid_value, "cannot launch a host kernel: no host stream");
  if (const auto fault = on->sticky().fault())
    throw DriverError(Status::illegal_address,
                      "cannot launch a kernel: the device is lost: " + fault->what);
  on->post_guarded("kernel", [on, kernel = std::move(kernel)] { on->arena().run(kernel); });
}

}  // namespace holdall::vmm
