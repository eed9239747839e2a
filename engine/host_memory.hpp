// Pinned host memory under a budget. Made by mmap, huge pages, touched by all cores and then registered: 14-18 GB/s on an
// H200 machine where cudaHostAlloc makes 1.7 (bench/README.md).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "engine/vmm/driver.hpp"

namespace holdall {

class HostMemory {
 public:
  HostMemory(vmm::Driver& driver, Bytes budget, int numa_node)
      : driver_(driver), budget_(budget), numa_node_(numa_node) {}

  vmm::Driver& driver() const { return driver_; }
  Bytes budget() const { return budget_; }
  Bytes used() const { return used_; }
  void set_budget(Bytes bytes) { budget_ = bytes; }  // what is used stays

  // Counts `bytes` against the budget. Throws OutOfHostMemory, saying what wants it and how much there is.
  void charge(Bytes bytes, const std::string& what);
  void discharge(Bytes bytes) { used_ -= bytes; }

  // Addresses only; page-aligned to 2 MiB. Throws OutOfHostMemory.
  std::byte* reserve(Bytes bytes, const std::string& what) const;
  void unreserve(std::byte* at, Bytes bytes) const;
  // Makes [at, at + bytes) real, zeroed and pinned; unpin undoes the pinning and gives the pages back.
  void pin(std::byte* at, Bytes bytes, const std::string& what) const;
  void unpin(std::byte* at, Bytes bytes) const;

 private:
  vmm::Driver& driver_;
  std::atomic<Bytes> budget_;
  std::atomic<Bytes> used_{0};
  const int numa_node_;
};

// One pinned array, made slab by slab in the background from its start.
class PinnedArray {
 public:
  PinnedArray(HostMemory& memory, Bytes bytes, std::string what);
  ~PinnedArray();

  std::byte* data() const { return base_; }
  // Waits until [offset, offset + bytes) is made. Throws OutOfHostMemory if it could not be.
  void wait(Bytes offset, Bytes bytes);

 private:
  void make(std::stop_token stop);

  static constexpr Bytes slab = Bytes{256} << 20;
  HostMemory& memory_;
  const Bytes bytes_;
  const std::string what_;
  std::byte* base_ = nullptr;
  std::atomic<Bytes> made_{0};
  std::atomic<bool> failed_{false};
  std::string why_;
  std::jthread maker_;
};

// Pinned slots of one size, taken and given one by one; when they run out a slab of them is made,
// or a single one where there is no room for more. For one thread.
class PinnedSlots {
 public:
  PinnedSlots(HostMemory& memory, Bytes slot) : memory_(memory), slot_(slot) {}
  ~PinnedSlots();

  // 1 + its number. Throws OutOfHostMemory.
  std::uint32_t take();
  void give(std::uint32_t slot) { idle_.push_back(slot); }
  std::byte* address(std::uint32_t slot) const { return addresses_[slot - 1]; }

 private:
  void make(Bytes bytes);

  struct Slab {
    std::byte* at = nullptr;
    Bytes bytes = 0;
  };
  static constexpr Bytes slab = Bytes{64} << 20;
  HostMemory& memory_;
  const Bytes slot_;
  std::vector<Slab> slabs_;
  std::vector<std::byte*> addresses_;  // [slot - 1]
  std::vector<std::uint32_t> idle_;
};

}  // namespace holdall
