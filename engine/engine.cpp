#include "engine/engine.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/vmm/host.hpp"

namespace holdall {

namespace {

std::unique_ptr<vmm::Driver> make_driver(const Config& config) {
  if (config.driver == "cuda") return vmm::make_cuda_driver();
  if (config.driver.empty() && vmm::cuda_available()) return vmm::make_cuda_driver();
  if (config.driver.empty() || config.driver == "host") {
    vmm::HostOptions options;
    options.devices = std::max(1, config.devices);
    options.capacity = config.memory;
    return vmm::make_host_driver(options);
  }
  throw InvalidAccess(fmt::format("there is no driver '{}': cuda or host", config.driver));
}

Config checked(Config config, const vmm::Driver& driver) {
  if (config.devices == 0) config.devices = driver.devices();
  if (config.devices < 0 || config.devices > driver.devices())
    throw NoDevice(fmt::format("{} devices were asked for, the {} driver has {}: lower --devices",
                               config.devices, driver.name(), driver.devices()));
  constexpr int most = 255;  // a chunk's notes keep its device in 8 bits
  if (config.devices > most)
    throw NoDevice(fmt::format("{} devices were asked for, an engine has {} at the most: lower --devices",
                               config.devices, most));
  for (int i = 0; i < config.devices; ++i)
    if (!driver.info(i).supports_paging)
      throw NoDevice(fmt::format("device {} ({}) has no virtual memory management: use another, or "
                                 "the host driver",
                                 i, driver.info(i).name));
  return config;
}

}  // namespace

Engine::Engine(const Config& config) : Engine(make_driver(config), config) {}

Engine::Engine(std::unique_ptr<vmm::Driver> driver, const Config& config) {
  const Config good = checked(config, *driver);
  pager_ = std::make_unique<Pager>(std::move(driver), good);
}

Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;

void Engine::set_memory(int device, Bytes bytes) {
  if (device < 0 || device >= devices())
    throw InvalidAccess(fmt::format("there is no device {}: this engine has {}", device, devices()));
  pager_->set_memory(device, bytes);
}

Stream Engine::stream(int device) {
  if (device < 0 || device >= devices())
    throw InvalidAccess(fmt::format("there is no device {}: this engine has {}", device, devices()));
  return pager_->uses().create(device);
}

void Engine::synchronize(Stream stream) {
  const vmm::Status status = driver().synchronize(stream);
  if (status == vmm::Status::ok) return;
  pager_->check_use(pager_->uses().of(stream));  // says what happened, if the device is lost
  vmm::check(status, "wait for a stream");
}

void Engine::load(RangeState& to, Bytes first, std::span<const std::byte> from, int device) {
  const Access whole{&to, Access::overwrite, first, from.size(), nullptr};
  const Stream stream = pager_->own_stream(device);
  for (Passes passes = this->passes(stream, {whole}); passes.next();) {
    for (const Need& part : passes.parts())
      for (std::uint64_t i = part.run.first; i < part.run.first + part.run.count; ++i) {
        const Bytes begin = std::max(first, i * to.chunk_bytes);
        const Bytes end = std::min(first + from.size(), (i + 1) * to.chunk_bytes);
        vmm::check(driver().copy(to.base + begin, from.data() + (begin - first), end - begin, stream),
                   "load " + to.name);
      }
    synchronize(stream);
  }
}

void Engine::store(RangeState& from, Bytes first, std::span<std::byte> to, int device) {
  const Access whole{&from, Access::read, first, to.size(), nullptr};
  const Stream stream = pager_->own_stream(device);
  for (Passes passes = this->passes(stream, {whole}); passes.next();) {
    for (const Need& part : passes.parts())
      for (std::uint64_t i = part.run.first; i < part.run.first + part.run.count; ++i) {
        const Bytes begin = std::max(first, i * from.chunk_bytes);
        const Bytes end = std::min(first + to.size(), (i + 1) * from.chunk_bytes);
        vmm::check(driver().copy(to.data() + (begin - first), from.base + begin, end - begin, stream),
                   "store " + from.name);
      }
    synchronize(stream);
  }
}

}  // namespace holdall
