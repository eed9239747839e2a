// The frames of one place: made on demand up to a budget, kept by size, used again rather than released. The pager's own.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <vector>

#include "engine/vmm/driver.hpp"

namespace holdall {

class FramePool {
 public:
  FramePool(vmm::Driver& driver, vmm::Place place, Bytes budget);
  ~FramePool();

  vmm::Place place() const { return place_; }
  Bytes budget() const { return budget_; }
  Bytes asked() const { return asked_; }  // the budget, before a driver that is full shrank it
  Bytes allocated() const { return allocated_; }
  Bytes in_use() const { return allocated_ - idle_bytes_; }  // taken and not given back
  bool room_for(Bytes bytes) const { return in_use() + bytes <= budget_; }

  // A frame; out_of_memory where the budget, or the driver, has no more. A driver that is full shrinks the budget to what
  // is allocated.
  [[nodiscard]] vmm::Status take(Bytes bytes, vmm::Frame& frame);
  void give(Bytes bytes, vmm::Frame frame);
  // Releases idle frames beyond it; frames in use go as they are given back.
  void set_budget(Bytes bytes);
  // Back to the budget that was asked for; false: it is that.
  bool widen() { return budget_.exchange(asked_) != asked_; }

 private:
  void release_idle(Bytes down_to, Bytes except);
  void release(Bytes bytes, vmm::Frame frame);

  vmm::Driver& driver_;
  const vmm::Place place_;
  std::atomic<Bytes> budget_;
  Bytes asked_;
  std::atomic<Bytes> allocated_{0};
  std::atomic<Bytes> idle_bytes_{0};
  std::map<Bytes, std::vector<vmm::Frame>> idle_;
};

}  // namespace holdall
