// The driver's mapping calls, as the pager makes them: counted, timed, tried again while the driver says "not ready".
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "engine/stats.hpp"
#include "engine/vmm/driver.hpp"

namespace holdall {

class Mapper {
 public:
  Mapper(vmm::Driver& driver, int devices);

  [[nodiscard]] vmm::Status map(std::byte* at, Bytes bytes, vmm::Frame frame);
  // Grants access on memory of `place`: a device's own to that device, or, to be `shared`, to every device that reaches it
  // as well (40 us more on an H200, so not before another asks); the host's to every device and the CPU.
  [[nodiscard]] vmm::Status set_access(std::byte* at, Bytes bytes, vmm::Place place, bool shared = false);
  [[nodiscard]] vmm::Status unmap(std::byte* at, Bytes bytes);

  DriverCalls maps() const { return map_.so_far(); }
  DriverCalls set_accesses() const { return set_access_.so_far(); }
  DriverCalls unmaps() const { return unmap_.so_far(); }

 private:
  struct Counted {
    std::atomic<std::uint64_t> calls{0};
    std::atomic<std::int64_t> nanoseconds{0};
    DriverCalls so_far() const { return {calls, std::chrono::nanoseconds(nanoseconds)}; }
  };
  template <class F>
  static vmm::Status call(Counted& counted, F f);

  vmm::Driver& driver_;
  std::vector<std::vector<vmm::Grant>> on_device_;  // [device]
  std::vector<vmm::Grant> on_host_;
  Counted map_, set_access_, unmap_;
};

}  // namespace holdall
