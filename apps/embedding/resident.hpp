// An array that stays in device memory, under the engine's budget, for as long as it lives.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <utility>

#include "engine/engine.hpp"

namespace holdall::embedding {

template <class T>
class Resident {
 public:
  Resident() = default;
  // Zeroed. Throws WorkingSetTooLarge, saying what there is, where the budget has no room for it.
  Resident(Engine& engine, Stream stream, std::uint64_t count, const std::string& name)
      : range_(engine.reserve<T>(std::max<std::uint64_t>(count, 1),
                                 {.name = name,
                                  .backing = zeros(),
                                  .chunk = chunk_for(count * sizeof(T)),
                                  .cold = Cold::unmapped})),
        lease_(engine.acquire(stream, {write(range_)})),
        size_(count) {
    lease_.hand_over();
  }
  Resident(Resident&& other) noexcept { swap(other); }
  Resident& operator=(Resident&& other) noexcept {
    Resident(std::move(other)).swap(*this);
    return *this;
  }
  ~Resident() { lease_.release(); }
  void swap(Resident& other) noexcept {
    range_.swap(other.range_);
    lease_.swap(other.lease_);
    std::swap(size_, other.size_);
  }

  T* data() const { return range_ ? range_.data() : nullptr; }
  std::uint64_t size() const { return size_; }
  const Range<T>& range() const { return range_; }
  Bytes bytes() const { return range_ ? range_.chunks() * range_.chunk_bytes() : 0; }

  // The bytes that `count` elements take, whole chunks.
  static Bytes bytes_for(std::uint64_t count) {
    const Bytes bytes = std::max<Bytes>(count, 1) * sizeof(T);
    return round_up(bytes, chunk_for(bytes));
  }

 private:
  static Bytes chunk_for(Bytes bytes) {
    return std::bit_floor(std::clamp<Bytes>(bytes / 16, Bytes{2} << 20, Bytes{64} << 20));
  }

  Range<T> range_;
  Lease lease_;
  std::uint64_t size_ = 0;
};

}  // namespace holdall::embedding
