// The backing of a host-mapped range: one pinned host frame a chunk, always mapped at an alias that copies use, and at the
// chunk's own address while it is cold. The pager's own.
#pragma once

#include <vector>

#include "engine/host_memory.hpp"
#include "engine/mapper.hpp"
#include "engine/range.hpp"

namespace holdall {

class HostFrames : public Backing {
 public:
  // Makes and maps all frames at the alias, zeroed. Throws OutOfHostMemory, DriverError.
  HostFrames(Mapper& mapper, HostMemory& memory, const RangeState& range);
  ~HostFrames() override;

  bool full() const override { return true; }
  std::byte* address(std::uint64_t chunk, std::uint32_t&, bool) override { return alias_ + chunk * bytes_; }
  void read(Bytes offset, std::span<std::byte> to) override;
  void write(Bytes offset, std::span<const std::byte> from) override;
  std::byte* contents() const { return alias_; }

  // Maps the chunk's frame at the chunk's address, or takes it from there.
  [[nodiscard]] vmm::Status map(std::uint64_t chunk, std::byte* at);
  [[nodiscard]] vmm::Status unmap(std::uint64_t chunk, std::byte* at);
  bool mapped(std::uint64_t chunk) const { return mapped_[chunk]; }

 private:
  void release();

  Mapper& mapper_;
  HostMemory& memory_;
  const Bytes bytes_;  // of a chunk
  const vmm::Place place_;
  std::byte* alias_ = nullptr;
  Bytes reserved_ = 0;
  std::vector<vmm::Frame> frames_;
  std::vector<bool> mapped_;
  std::uint64_t aliased_ = 0;  // frames [0, aliased_) are mapped at the alias
};

}  // namespace holdall
