#include "engine/vmm/host/driver.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <thread>
#include <utility>

namespace holdall::vmm {

namespace {

thread_local std::string newest_error;

HostOptions completed(HostOptions options) {
  if (options.devices < 1)
    throw std::invalid_argument(
        fmt::format("a host driver of {} devices: ask for 1 or more", options.devices));
  const auto n = static_cast<std::size_t>(options.devices);
  bool square = options.peers.size() == n;
  for (const auto& row : options.peers) square = square && row.size() == n;
  if (!options.peers.empty() && !square)
    throw std::invalid_argument(
        fmt::format("the peer matrix of {} devices must have {} rows of {}", n, n, n));
  if (options.capacity == 0) options.capacity = machine_bytes() / 2;
  if (options.pin_limit == 0) options.pin_limit = machine_bytes();
  return options;
}

}  // namespace

Status refuse(Status status, std::string why) {
  newest_error = std::move(why);
  return status;
}

LinuxDriver::LinuxDriver(const HostOptions& options)
    : options_(completed(options)),
      injections_(options_.seed, options_.jitter),
      frames_(options_.devices, options_.capacity, options_.pin_limit),
      table_(options_.devices) {
  for (int i = 0; i < options_.devices; ++i) devices_.push_back(std::make_unique<Device>());
}

LinuxDriver::~LinuxDriver() {
  std::unordered_map<HostStream*, std::unique_ptr<HostStream>> streams;
  {
    const std::lock_guard lock(handles_);
    streams.swap(streams_);
    ++streams_ended;
  }
  streams.clear();  // finishes their work while all else still stands
}

std::string LinuxDriver::last_error() const { return newest_error; }

DeviceInfo LinuxDriver::info(int device) const {
  DeviceInfo info;
  if (device < 0 || device >= devices()) return info;
  info.name = fmt::format("host device {}", device);
  info.total = options_.capacity;
  info.free = options_.capacity - allocated(device);
  info.supports_paging = true;
  info.multiprocessors = static_cast<int>(std::thread::hardware_concurrency());
  return info;
}

bool LinuxDriver::can_access_peer(int device, int peer) const {
  const int n = devices();
  if (device < 0 || peer < 0 || device >= n || peer >= n || device == peer) return false;
  return options_.peers.empty() ||
         options_.peers[static_cast<std::size_t>(device)][static_cast<std::size_t>(peer)];
}

Status LinuxDriver::health(int device) const { return usable(device); }

std::optional<Fault> LinuxDriver::fault(int index) const {
  if (index < 0 || index >= devices()) return std::nullopt;
  return device(index).sticky.fault();
}

Status LinuxDriver::usable(int index) const {
  if (index < 0 || index >= devices())
    return refuse(Status::no_device,
                  fmt::format("device {} of a host driver that has {}", index, devices()));
  if (const auto fault = device(index).sticky.fault())
    return refuse(Status::illegal_address, fault->what);
  return Status::ok;
}

Bytes LinuxDriver::mapped(const std::byte* at, Bytes bytes) const {
  const std::lock_guard lock(memory_);
  return table_.mapped(reinterpret_cast<Address>(at), bytes);
}

Bytes LinuxDriver::allocated(int device) const {
  if (device < 0 || device >= devices()) return 0;
  const std::lock_guard lock(memory_);
  return frames_.memory({Place::device, device}).taken();
}

std::size_t LinuxDriver::frames() const {
  const std::lock_guard lock(memory_);
  return frames_.size();
}

Bytes LinuxDriver::pinned() const {
  const std::lock_guard lock(memory_);
  return pinned_locked();
}

Bytes LinuxDriver::pinned_locked() const {
  return pins_.total() + frames_.memory({Place::host, 0}).taken();
}

std::unique_ptr<HostDriver> make_host_driver(const HostOptions& options) {
  return std::make_unique<LinuxDriver>(options);
}

}  // namespace holdall::vmm
