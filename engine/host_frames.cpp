#include "engine/host_frames.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "engine/error.hpp"

namespace holdall {

HostFrames::HostFrames(Mapper& mapper, HostMemory& memory, const RangeState& range)
    : mapper_(mapper),
      memory_(memory),
      bytes_(range.chunk_bytes),
      place_{vmm::Place::host, std::max(0, memory.driver().info(0).numa_node)},
      reserved_(range.chunks * range.chunk_bytes),
      mapped_(range.chunks) {
  const std::string what = fmt::format("the host frames of '{}'", range.name);
  memory_.charge(reserved_, what);
  try {
    vmm::Driver& driver = memory_.driver();
    vmm::check(driver.reserve(alias_, reserved_, 0, range.name + " (host)"), "reserve " + what);
    for (std::uint64_t i = 0; i < range.chunks; ++i) {
      vmm::Frame frame{};
      const vmm::Status made = driver.create(frame, bytes_, place_);
      if (made == vmm::Status::out_of_memory)
        throw OutOfHostMemory(fmt::format("cannot make {}: chunk {} of {}: {}", what, i, range.chunks,
                                          vmm::to_string(made)));
      vmm::check(made, "make " + what);
      frames_.push_back(frame);
      vmm::check(mapper_.map(alias_ + i * bytes_, bytes_, frame), "map " + what);
      ++aliased_;
      vmm::check(mapper_.set_access(alias_ + i * bytes_, bytes_, place_), "grant access to " + what);
      std::memset(alias_ + i * bytes_, 0, bytes_);
    }
  } catch (...) {
    release();
    throw;
  }
}

HostFrames::~HostFrames() { release(); }

void HostFrames::release() {
  vmm::Driver& driver = memory_.driver();
  if (aliased_) (void)mapper_.unmap(alias_, aliased_ * bytes_);
  for (const vmm::Frame frame : frames_) (void)driver.release(frame);
  if (alias_) (void)driver.unreserve(alias_, reserved_);
  memory_.discharge(reserved_);
}

void HostFrames::read(Bytes offset, std::span<std::byte> to) {
  std::memcpy(to.data(), alias_ + offset, to.size());
}

void HostFrames::write(Bytes offset, std::span<const std::byte> from) {
  std::memcpy(alias_ + offset, from.data(), from.size());
}

vmm::Status HostFrames::map(std::uint64_t chunk, std::byte* at) {
  vmm::Status status = mapper_.map(at, bytes_, frames_[chunk]);
  if (status != vmm::Status::ok) return status;
  mapped_[chunk] = true;
  status = mapper_.set_access(at, bytes_, place_);
  if (status != vmm::Status::ok) (void)unmap(chunk, at);
  return status;
}

vmm::Status HostFrames::unmap(std::uint64_t chunk, std::byte* at) {
  const vmm::Status status = mapper_.unmap(at, bytes_);
  if (status == vmm::Status::ok) mapped_[chunk] = false;
  return status;
}

}  // namespace holdall
