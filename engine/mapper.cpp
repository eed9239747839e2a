#include "engine/mapper.hpp"

#include <thread>

namespace holdall {

Mapper::Mapper(vmm::Driver& driver, int devices) : driver_(driver) {
  on_device_.resize(static_cast<std::size_t>(devices));
  for (int owner = 0; owner < devices; ++owner)
    for (int reader = 0; reader < devices; ++reader)
      if (reader == owner || driver.can_access_peer(reader, owner))
        on_device_[static_cast<std::size_t>(owner)].push_back(
            {{vmm::Place::device, reader}, vmm::Protection::read_write});
  for (int reader = 0; reader < devices; ++reader)
    on_host_.push_back({{vmm::Place::device, reader}, vmm::Protection::read_write});
  on_host_.push_back({{vmm::Place::host, 0}, vmm::Protection::read_write});
}

template <class F>
vmm::Status Mapper::call(Counted& counted, F f) {
  constexpr int tries = 20;  // with the pauses: some 4 ms in all
  const auto began = std::chrono::steady_clock::now();
  vmm::Status status = f();
  for (int i = 1; i < tries && status == vmm::Status::not_ready; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(20 * i));
    status = f();
  }
  counted.calls.fetch_add(1, std::memory_order_relaxed);
  counted.nanoseconds.fetch_add((std::chrono::steady_clock::now() - began).count(),
                         std::memory_order_relaxed);
  return status;
}

vmm::Status Mapper::map(std::byte* at, Bytes bytes, vmm::Frame frame) {
  return call(map_, [&] { return driver_.map(at, bytes, frame); });
}

vmm::Status Mapper::set_access(std::byte* at, Bytes bytes, vmm::Place place, bool shared) {
  if (place.kind == vmm::Place::device)
    return call(set_access_, [&] {
      if (!shared) return driver_.set_access(at, bytes, {{place, vmm::Protection::read_write}});
      return driver_.set_access(at, bytes, std::span<const vmm::Grant>(on_device_[static_cast<std::size_t>(place.index)]));
    });
  on_host_.back().to.index = place.index;
  return call(set_access_, [&] { return driver_.set_access(at, bytes, std::span<const vmm::Grant>(on_host_)); });
}

vmm::Status Mapper::unmap(std::byte* at, Bytes bytes) {
  return call(unmap_, [&] { return driver_.unmap(at, bytes); });
}

}  // namespace holdall
