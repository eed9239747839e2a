// Short lists that a host loop hands to one kernel after the other: written to pinned memory,
// copied in stream order. The list of a launch stays as it is until the launch has run.
#pragma once

#include <array>
#include <span>
#include <string>

#include "apps/graph/vertex_array.hpp"

namespace holdall::graph {

template <class T>
class DeviceList {
 public:
  // Lists of up to `most` elements, for launches on `stream`.
  DeviceList(VertexData& data, std::uint64_t most, const std::string& name)
      : DeviceList(data, most, name, data.stream()) {}
  DeviceList(VertexData& data, std::uint64_t most, const std::string& name, Stream stream)
      : driver_(&data.engine().driver()),
        stream_(stream),
        most_(std::max<std::uint64_t>(most, 1)),
        host_(data.engine().host_array<T>(slots * most_, name)),
        device_(data.array<T>(slots * most_, name)) {
    int device = 0;
    vmm::check(driver_->device_of(stream_, device), "find the device of a stream");
    for (vmm::Event& event : sent_)
      vmm::check(driver_->create_event(event, device), "create an event");
  }
  ~DeviceList() {
    (void)driver_->synchronize(stream_);
    for (const vmm::Event event : sent_) (void)driver_->destroy_event(event);
  }
  DeviceList(const DeviceList&) = delete;
  DeviceList& operator=(const DeviceList&) = delete;

  // Where the next launch on the stream finds `list`. May wait for the launch four lists before.
  const T* send(std::span<const T> list) {
    const std::size_t slot = next_++ % slots;
    vmm::check(driver_->synchronize(sent_[slot]), "wait for a list to be read");
    T* const from = host_.data() + slot * most_;
    T* const to = device_.data() + slot * most_;
    std::copy(list.begin(), list.end(), from);
    if (!list.empty())
      vmm::check(driver_->copy(to, from, list.size_bytes(), stream_), "send a list");
    return to;
  }
  // After the launch that reads the newest list.
  void launched() {
    vmm::check(driver_->record(sent_[(next_ - 1) % slots], stream_), "record a launch");
  }

 private:
  static constexpr std::size_t slots = 4;
  vmm::Driver* driver_;
  Stream stream_;
  std::uint64_t most_;
  HostArray<T> host_;
  VertexArray<T> device_;
  std::array<vmm::Event, slots> sent_{};
  std::size_t next_ = 0;
};

}  // namespace holdall::graph
