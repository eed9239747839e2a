// A stream of the host driver: one worker thread and a FIFO queue. An idle stream sleeps.
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

// A point in a stream. Shared by the event that stands for it and by those who wait for it.
class Marker {
 public:
  void pass();
  bool passed() const;
  void wait() const;

 private:
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
  void synchronize();

 private:
  void run();

  const int device_;
  Sticky& sticky_;
  const unsigned number_;
  const std::function<void()> mend_;
  StreamArena& arena_;

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::function<void()>> queue_;  // guarded by mutex_
  bool closing_ = false;                     // guarded by mutex_
  std::thread worker_;                       // last: it uses all of the above
};

}  // namespace holdall::vmm
