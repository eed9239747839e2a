// A small array of pinned host memory, under the engine's host budget: what copies to and from device memory run through.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "engine/host_memory.hpp"

namespace holdall {

template <class T>
class HostArray {
 public:
  HostArray() = default;
  // `size` zeroed elements. Throws OutOfHostMemory.
  HostArray(HostMemory& memory, std::uint64_t size, const std::string& what)
      : array_(std::make_unique<PinnedArray>(memory, size * sizeof(T), what)), size_(size) {
    array_->wait(0, size * sizeof(T));
  }

  T* data() const { return reinterpret_cast<T*>(array_->data()); }
  std::uint64_t size() const { return size_; }
  T& operator[](std::uint64_t i) const { return data()[i]; }
  operator std::span<T>() const { return {data(), size_}; }  // NOLINT: converts on purpose

 private:
  std::unique_ptr<PinnedArray> array_;
  std::uint64_t size_ = 0;
};

}  // namespace holdall
