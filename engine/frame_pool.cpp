#include "engine/frame_pool.hpp"

#include <algorithm>

namespace holdall {

FramePool::FramePool(vmm::Driver& driver, vmm::Place place, Bytes budget)
    : driver_(driver), place_(place), budget_(budget), asked_(budget) {}

FramePool::~FramePool() { release_idle(0, 0); }

vmm::Status FramePool::take(Bytes bytes, vmm::Frame& frame) {
  auto& idle = idle_[bytes];
  if (!idle.empty()) {
    frame = idle.back();
    idle.pop_back();
    idle_bytes_ -= bytes;
    return vmm::Status::ok;
  }
  if (!room_for(bytes)) return vmm::Status::out_of_memory;
  if (allocated_ + bytes > budget_) release_idle(budget_ - bytes, bytes);
  const vmm::Status status = driver_.create(frame, bytes, place_);
  if (status == vmm::Status::ok)
    allocated_ += bytes;
  else if (status == vmm::Status::out_of_memory)
    budget_ = allocated_.load();
  return status;
}

void FramePool::give(Bytes bytes, vmm::Frame frame) {
  if (allocated_ > budget_) return release(bytes, frame);
  idle_[bytes].push_back(frame);
  idle_bytes_ += bytes;
}

void FramePool::set_budget(Bytes bytes) {
  budget_ = asked_ = bytes;
  release_idle(bytes, 0);
}

void FramePool::release_idle(Bytes down_to, Bytes except) {
  for (auto& [size, frames] : idle_)
    while (size != except && !frames.empty() && allocated_ > down_to) {
      idle_bytes_ -= size;
      release(size, frames.back());
      frames.pop_back();
    }
}

void FramePool::release(Bytes bytes, vmm::Frame frame) {
  (void)driver_.release(frame);
  allocated_ -= bytes;
}

}  // namespace holdall
