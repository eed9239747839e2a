// Catches a touch of memory that is not mapped, or not granted, by the work of a host stream: the
// stream's device becomes sticky, and scratch memory is put under the address so that the kernel
// can go on harmlessly and end. Any other fault goes to whoever handled it before (usually: a
// crash).
#pragma once

#include <array>
#include <atomic>
#include <string>
#include <vector>

#include "engine/vmm/host/sticky.hpp"

namespace holdall::vmm {

constexpr Bytes host_granule = 2_MiB;  // of reservations and frames, as on CUDA

// Where scratch memory was put, until it is taken away again. Lock-free.
class ScratchLog {
 public:
  void add(Address granule) noexcept;  // async-signal-safe
  std::vector<Address> take();
  bool any() const noexcept { return any_.load(std::memory_order_acquire); }

 private:
  // A granule beyond these keeps its scratch until something is mapped or unmapped there.
  std::array<std::atomic<Address>, 1024> granules_{};
  std::atomic<bool> any_{false};
};

// What the signal handler knows of a reservation. Slots are used again and never freed, since the
// handler can hold no lock.
struct WatchedRange {
  std::atomic<Address> begin{0};
  std::atomic<Address> end{0};
  std::atomic<const std::string*> label{nullptr};
  std::atomic<ScratchLog*> scratch{nullptr};
  WatchedRange* next = nullptr;  // constant once the slot is in the list
};

// Installs the handler on the first call.
WatchedRange& watch(Address begin, Bytes bytes, const std::string& label, ScratchLog& scratch);
void unwatch(WatchedRange& range);

}  // namespace holdall::vmm
