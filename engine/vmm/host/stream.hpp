// A stream of the host driver: a FIFO queue, and one thread at a time that does its work: its
// worker, or who waits for it meanwhile. An idle stream sleeps.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "engine/vmm/host/arena.hpp"

namespace holdall::vmm {

class HostStream;

// A point in a stream. Shared by the event that stands for it and by those who wait for it.
class Marker {
 public:
  explicit Marker(HostStream& stream) : stream_(stream) {}
  void pass();
  // Who asks or waits wakes the stream's worker.
  bool passed() const;
  void wait() const;

 private:
  HostStream& stream_;  // until passed
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool passed_ = false;
};

struct HostEvent {
  explicit HostEvent(int of) : device(of) {}
  const int device;
  std::mutex mutex;
  std::shared_ptr<Marker> newest;  // guarded by mutex; nullptr: never recorded
};

// Thread-safe.
class HostStream {
 public:
  // `mend` is called on the worker after work that may have touched what it must not.
  HostStream(int device, Sticky& sticky, unsigned number, std::function<void()> mend);
  ~HostStream();  // finishes its work first

  int device() const { return device_; }
  unsigned number() const { return number_; }
  Sticky& sticky() { return sticky_; }
  StreamArena& arena() { return arena_; }
  std::atomic<bool> capturing{false};

  // Runs when the stream comes to it, whatever became of the device.
  void post(std::function<void()> work);
  // Runs only if the device is not lost by then; an exception that leaves it loses the device.
  // `what` says whose fault that is: "kernel".
  void post_guarded(const char* what, std::function<void()> work);
  // Does the work itself that nobody has begun: so a thread that waits at once need not be woken.
  void synchronize();

  // Between these, work that comes does not wake the worker.
  void hold();
  void let_go();
  // Wakes the worker if work lies there that did not.
  void hurry();

 private:
  void work();
  // Takes the first of the queue, which nobody is at, and does it. `lock` is free meanwhile.
  void run_first(std::unique_lock<std::mutex>& lock) noexcept;

  const int device_;
  Sticky& sticky_;
  const unsigned number_;
  const std::function<void()> mend_;
  StreamArena& arena_;

  std::mutex mutex_;  // guards all but the worker
  std::condition_variable arrived_, passed_;
  std::deque<std::function<void()>> queue_;
  std::uint64_t posted_ = 0, done_ = 0;  // work so far
  static constexpr std::uint64_t nobody = ~std::uint64_t{0};
  std::uint64_t wanted_ = nobody;  // done: the least that somebody sleeps for
  bool busy_ = false;                    // somebody is at work
  int held_ = 0;
  bool closing_ = false;
  std::thread worker_;  // last: it uses all of the above
};

}  // namespace holdall::vmm
