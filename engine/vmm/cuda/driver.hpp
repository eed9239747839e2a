// The driver port over libcuda. Primary contexts only, each retained at the first call that needs
// it; around every call the right one is current, and the caller's own is left as it was.
//
// driver.cpp: devices, contexts and errors. memory.cpp: addresses, frames, mappings.
// streams.cpp: streams, events and the work on them.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <deque>
#include <mutex>
#include <vector>

#include "engine/vmm/cuda/current.hpp"
#include "engine/vmm/cuda/library.hpp"
#include "engine/vmm/driver.hpp"

namespace holdall::vmm::cuda {

class CudaDriver final : public Driver {
 public:
  // Throws NoDevice where no device has virtual memory management.
  explicit CudaDriver(const Library& library);
  ~CudaDriver() override;
  CudaDriver(const CudaDriver&) = delete;
  CudaDriver& operator=(const CudaDriver&) = delete;

  std::string_view name() const override { return "cuda"; }
  int devices() const override { return static_cast<int>(devices_.size()); }
  DeviceInfo info(int device) const override;
  bool can_access_peer(int device, int peer) const override;
  Bytes granularity(Place place) const override;
  bool cpu_reaches_device() const override { return false; }
  std::string last_error() const override;
  Status health(int device) const override;
  std::optional<Fault> fault(int device) const override;

  Status reserve(std::byte*& at, Bytes bytes, Bytes alignment, std::string_view label) override;
  Status unreserve(std::byte* at, Bytes bytes) override;
  Status create(Frame& frame, Bytes bytes, Place place) override;
  Status release(Frame frame) override;
  Status map(std::byte* at, Bytes bytes, Frame frame) override;
  Status set_access(std::byte* at, Bytes bytes, std::span<const Grant> to) override;
  Status unmap(std::byte* at, Bytes bytes) override;
  Status pin(void* at, Bytes bytes) override;
  Status unpin(void* at) override;

  Status create_stream(Stream& stream, int device) override;
  Status destroy_stream(Stream stream) override;
  Status synchronize(Stream stream) override;
  Status device_of(Stream stream, int& device) const override;
  Status is_capturing(Stream stream, bool& capturing) const override;
  Status create_event(Event& event, int device) override;
  Status destroy_event(Event event) override;
  Status record(Event event, Stream stream) override;
  Status wait(Stream stream, Event event) override;
  Status query(Event event) override;
  Status synchronize(Event event) override;

  Status copy(std::span<const Copy> copies, Stream stream) override;
  Status fill(void* at, std::uint8_t value, Bytes bytes, Stream stream) override;
  Status host_call(Stream stream, std::function<void()> call) override;

 private:
  struct Device {
    CUdevice handle = 0;
    bool paging = false;
    std::atomic<CUcontext> context = nullptr;
    std::atomic<bool> lost = false;
    std::atomic<std::uint64_t> linked = 0;  // bit i: device i has a grant that stays
    std::mutex mutex;  // of the first retain, and of `fault`
    std::optional<Fault> fault;
  };
  // Where a call is made.
  struct Home {
    CUcontext context = nullptr;
    int device = 0;
    bool certain = true;  // else a sticky answer may be another device's
  };

  bool known(int device) const { return device >= 0 && device < devices(); }
  Device& at(int device) const { return devices_[static_cast<std::size_t>(device)]; }
  int attribute(const Device& device, CUdevice_attribute which) const;  // 0: unknown to the driver
  std::optional<CUmemLocation> location(Place place) const;  // nothing: no frame can lie there

  // What the port answers for `result`; notes its text for last_error, and the loss of a device.
  Status answer(CUresult result, std::string_view call, const Home& home) const;
  Status refuse(Status status, std::string text) const;
  void lose(Device& device, const std::string& text) const;

  void hold_links(std::span<const Grant> to);
  void drop_links();
  Status retain(int device, CUcontext& context) const;
  int any_device() const;  // for calls that concern no device: one that works, best a used one
  Status home_of(Stream stream, Home& home) const;

  template <class Body>
  Status in(const Home& home, std::string_view call, Body&& body) const {
    const Current current(library_, home.context);
    if (current.result() != CUDA_SUCCESS) return answer(current.result(), "cuCtxPushCurrent", home);
    return answer(body(), call, home);
  }
  template <class Body>
  Status on(int device, std::string_view call, Body&& body) const {
    Home home{.device = device};
    if (const Status status = retain(device, home.context); status != Status::ok) return status;
    return in(home, call, body);
  }
  template <class Body>
  Status on(Stream stream, std::string_view call, Body&& body) const {
    Home home;
    if (const Status status = home_of(stream, home); status != Status::ok) return status;
    return in(home, call, body);
  }
  // For calls that concern no device in particular.
  template <class Body>
  Status anywhere(std::string_view call, Body&& body) const {
    Home home{.device = any_device(), .certain = false};
    if (const Status status = retain(home.device, home.context); status != Status::ok)
      return status;
    return in(home, call, body);
  }

  struct Link {
    std::byte* at = nullptr;
    bool mapped = false;
  };

  const Library library_;
  mutable std::deque<Device> devices_;
  std::vector<int> numa_nodes_;  // where pinned host memory can be made; empty: nowhere by node
  bool host_frames_ = false;     // host memory of no particular node can be made
  Bytes granularity_ = 0;        // the coarsest of the devices
  std::mutex links_mutex_;       // guards links_
  std::vector<Link> links_;
};

}  // namespace holdall::vmm::cuda
