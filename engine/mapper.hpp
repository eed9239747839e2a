// The driver's mapping calls, as the pager makes them: counted, timed, tried again while the driver says "not ready".
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "engine/vmm/driver.hpp"

namespace holdall {

class Mapper {
 public:
  Mapper(vmm::Driver& driver, int devices);

  [[nodiscard]] vmm::Status map(std::byte* at, Bytes bytes, vmm::Frame frame);
  // Grants access on memory of `place` to every device that reaches it, and to the CPU for host memory.
  [[nodiscard]] vmm::Status set_access(std::byte* at, Bytes bytes, vmm::Place place);
  [[nodiscard]] vmm::Status unmap(std::byte* at, Bytes bytes);

  std::uint64_t calls() const { return calls_; }
  std::chrono::nanoseconds time() const { return std::chrono::nanoseconds(nanoseconds_); }

 private:
  template <class F>
  vmm::Status call(F f);

  vmm::Driver& driver_;
  std::vector<std::vector<vmm::Grant>> on_device_;  // [device]
  std::vector<vmm::Grant> on_host_;
  std::atomic<std::uint64_t> calls_{0};
  std::atomic<std::int64_t> nanoseconds_{0};
};

}  // namespace holdall
