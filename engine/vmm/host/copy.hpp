// Moves bytes at the speed of memory, or of a modelled link.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>

#include "engine/vmm/bytes.hpp"
#include "engine/vmm/host/arena.hpp"

namespace holdall::vmm {

// Both return when done; big ones are split over the arena's threads.
void copy_bytes(StreamArena& arena, void* to, const void* from, Bytes bytes);
void fill_bytes(StreamArena& arena, void* at, std::uint8_t value, Bytes bytes);

// One direction of a device's link to host memory: transfers queue up for it. Thread-safe.
class LinkLane {
 public:
  // When a transfer that is asked for now has gone through. `rate`: bytes a second.
  std::chrono::steady_clock::time_point book(Bytes bytes, double rate);

 private:
  std::mutex mutex_;
  std::chrono::steady_clock::time_point free_{};
};

}  // namespace holdall::vmm
