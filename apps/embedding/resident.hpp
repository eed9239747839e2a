// An array that stays in device memory, under the engine's budget, for as long as it lives: in that
// of one device, for its kernels alone, or spread over all devices, for all.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "apps/embedding/spread.hpp"
#include "engine/engine.hpp"

namespace holdall::embedding {

template <class T>
class Resident {
 public:
  Resident() = default;
  // Zeroed. Throws WorkingSetTooLarge, saying what there is, where the budget has no room for it.
  Resident(Engine& engine, Stream stream, std::uint64_t count, const std::string& name)
      : range_(reserve(engine, count, name)), size_(count) {
    leases_.push_back(engine.acquire(stream, {write(range_)}));
    leases_.back().hand_over();
  }
  // `streams`: one of each device.
  Resident(Engine& engine, const std::vector<Stream>& streams, std::uint64_t count,
           const std::string& name)
      : range_(reserve(engine, count, name)), size_(count) {
    const Bytes chunk = range_.chunk_bytes();
    for (std::uint64_t i = 0; i < range_.chunks(); ++i)
      leases_.push_back(hold_spread(engine, streams, i,
                                    {&range_.state(), Access::write, i * chunk,
                                     std::min(chunk, range_.state().bytes - i * chunk), nullptr}));
  }
  Resident(Resident&& other) noexcept { swap(other); }
  Resident& operator=(Resident&& other) noexcept {
    Resident(std::move(other)).swap(*this);
    return *this;
  }
  ~Resident() { leases_.clear(); }
  void swap(Resident& other) noexcept {
    range_.swap(other.range_);
    leases_.swap(other.leases_);
    std::swap(size_, other.size_);
  }

  T* data() const { return range_ ? range_.data() : nullptr; }
  std::uint64_t size() const { return size_; }
  const Range<T>& range() const { return range_; }
  Bytes bytes() const { return range_ ? range_.chunks() * range_.chunk_bytes() : 0; }

  // Every byte of it becomes `value`, in the order of the streams; chunk by chunk, as a driver
  // wants it.
  void fill(Engine& engine, const std::vector<Stream>& streams, std::uint8_t value) const {
    for (std::uint64_t i = 0; i < range_.chunks(); ++i)
      vmm::check(engine.driver().fill(
                     range_.state().address(i), value, range_.chunk_bytes(),
                     streams[static_cast<std::size_t>(embedding::device_of(range_.state(), i))]),
                 "clear " + range_.name());
    for (const Stream stream : streams) engine.synchronize(stream);
  }

  // The bytes that `count` elements take, whole chunks.
  static Bytes bytes_for(std::uint64_t count) {
    const Bytes bytes = std::max<Bytes>(count, 1) * sizeof(T);
    return round_up(bytes, chunk_for(bytes));
  }

 private:
  static Range<T> reserve(Engine& engine, std::uint64_t count, const std::string& name) {
    return engine.reserve<T>(std::max<std::uint64_t>(count, 1),
                             {.name = name,
                              .backing = zeros(),
                              .chunk = chunk_for(count * sizeof(T)),
                              .cold = Cold::unmapped});
  }
  static Bytes chunk_for(Bytes bytes) {
    return std::bit_floor(std::clamp<Bytes>(bytes / 16, Bytes{2} << 20, Bytes{64} << 20));
  }

  Range<T> range_;
  std::vector<Lease> leases_;
  std::uint64_t size_ = 0;
};

}  // namespace holdall::embedding
