// The copies of one device in one direction: a stream whose submissions are numbered, so that anyone can ask whether the
// n-th has passed, wait for it, or order a stream behind it. The pager submits; the rest is thread-safe.
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/vmm/driver.hpp"

namespace holdall {

class CopyQueue {
 public:
  CopyQueue(vmm::Driver& driver, int device);
  ~CopyQueue();
  CopyQueue(const CopyQueue&) = delete;
  CopyQueue& operator=(const CopyQueue&) = delete;

  Stream stream() const { return stream_; }

  // Numbers all that was put on stream() since the last call. On failure the stream has been waited for.
  [[nodiscard]] vmm::Status submit(std::uint64_t& ticket);
  bool passed(std::uint64_t ticket) {
    assert(ticket <= submitted_.load(std::memory_order_acquire));
    return ticket <= passed_.load(std::memory_order_acquire) || poll(ticket);
  }
  [[nodiscard]] vmm::Status wait(std::uint64_t ticket);
  [[nodiscard]] vmm::Status order(Stream behind, std::uint64_t ticket);

 private:
  static constexpr std::uint64_t ring = 256;
  bool poll(std::uint64_t ticket);
  void advance(std::uint64_t ticket);

  vmm::Driver& driver_;
  Stream stream_;
  std::vector<vmm::Event> events_;  // [ring]; a younger record in a slot only makes a wait longer
  std::atomic<std::uint64_t> submitted_{0};
  std::atomic<std::uint64_t> passed_{0};
};

}  // namespace holdall
