// The host driver's calls, one file a section of the port: driver.cpp (devices, injection,
// what tests see), mappings.cpp (addresses, frames, mappings, pins), streams.cpp (streams
// and events), work.cpp (copies, fills, host calls).
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/vmm/host.hpp"
#include "engine/vmm/host/copy.hpp"
#include "engine/vmm/host/flight.hpp"
#include "engine/vmm/host/frames.hpp"
#include "engine/vmm/host/injection.hpp"
#include "engine/vmm/host/pins.hpp"
#include "engine/vmm/host/stream.hpp"
#include "engine/vmm/host/table.hpp"

namespace holdall::vmm {

// Answers `status`, and `why` from `last_error` on this thread.
Status refuse(Status status, std::string why);

// How many streams of host drivers, of all of them, have ended.
inline std::atomic<std::uint64_t> streams_ended{0};

class LinuxDriver final : public HostDriver {
 public:
  explicit LinuxDriver(const HostOptions& options);
  ~LinuxDriver() override;

  std::string_view name() const override { return "host"; }
  int devices() const override { return static_cast<int>(devices_.size()); }
  DeviceInfo info(int device) const override;
  bool can_access_peer(int device, int peer) const override;
  Bytes granularity(Place) const override { return host_granule; }
  bool cpu_reaches_device() const override { return true; }
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

  void inject(const Injection& injection) override { injections_.add(injection); }
  void clear_injections() override { injections_.clear(); }
  std::uint64_t calls(Call call) const override { return injections_.calls(call); }
  Bytes mapped(const std::byte* at, Bytes bytes) const override;
  Bytes allocated(int device) const override;
  std::size_t frames() const override;
  Bytes pinned() const override;
  Status set_capturing(Stream stream, bool capturing) override;

 private:
  struct Device {
    Sticky sticky;
    LinkLane in;
    LinkLane out;
  };
  // An extent whose frame is gone.
  struct Extent {
    Place place;
    Bytes offset = 0;
    Bytes bytes = 0;
  };

  // ok; no_device; illegal_address for a lost one.
  Status usable(int device) const;
  Device& device(int index) const { return *devices_[static_cast<std::size_t>(index)]; }
  // nullptr: no such handle.
  HostStream* find(Stream stream) const;
  std::shared_ptr<HostEvent> find(Event event) const;
  // ok and the stream; invalid_value; illegal_address.
  Status usable(Stream stream, HostStream*& found) const;

  Bytes pinned_locked() const;
  Status may_grant(const Mapping& mapping, const Grant& grant) const;
  void give_back(const std::vector<Extent>& extents);

  void copy_now(HostStream& stream, const Copy& copy);
  void fill_now(HostStream& stream, void* at, std::uint8_t value, Bytes bytes);
  // Loses the stream's device if `reach` says that it must not go there.
  bool allowed(HostStream& stream, const Reach& reach, std::string_view verb);
  void land(const std::vector<InFlight::Ticket>& tickets);

  const HostOptions options_;
  Injections injections_;
  std::vector<std::unique_ptr<Device>> devices_;

  mutable std::mutex memory_;  // guards the four below
  FrameTable frames_;
  PageTable table_;
  InFlight flight_;
  PinTable pins_;

  mutable std::mutex handles_;  // guards the three below
  std::unordered_map<HostStream*, std::unique_ptr<HostStream>> streams_;
  std::unordered_map<void*, std::shared_ptr<HostEvent>> events_;
  unsigned last_stream_ = 0;
};

}  // namespace holdall::vmm
