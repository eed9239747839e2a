// An array in plain memory of a stream's device, for data that fits: the GPU's own allocator, or
// operator new for a stream of the host driver.
//
//   DeviceArray<float> scores(vertices, stream);
//   scores.write(std::vector<float>(vertices));
//   float* anywhere_in_a_step = scores.data();
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/vmm/bytes.hpp"
#include "engine/vmm/stream.hpp"

namespace holdall::kernels {

// Aligned to 256 bytes, contents unspecified. Throws DriverError (out_of_memory); Error if `stream`
// is a GPU's and the library was built without CUDA.
void* allocate(Bytes bytes, Stream stream);
void free(void* at, Stream stream) noexcept;  // once the stream has run dry
// Between the device and this process, either way, after the stream's work so far. Waits, even
// for no bytes.
void copy(void* to, const void* from, Bytes bytes, Stream stream);

template <typename T>
class DeviceArray {
 public:
  DeviceArray() = default;
  DeviceArray(std::uint64_t count, Stream stream)
      : data_(static_cast<T*>(allocate(count * sizeof(T), stream))),
        count_(count),
        stream_(stream) {}
  DeviceArray(const std::vector<T>& values, Stream stream) : DeviceArray(values.size(), stream) {
    write(values);
  }
  DeviceArray(DeviceArray&& other) noexcept { swap(other); }
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    DeviceArray(std::move(other)).swap(*this);
    return *this;
  }
  ~DeviceArray() {
    if (data_ != nullptr) free(data_, stream_);
  }
  void swap(DeviceArray& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    std::swap(stream_, other.stream_);
  }

  T* data() const { return data_; }
  std::uint64_t size() const { return count_; }
  void write(std::span<const T> values) {
    copy(data_, values.data(), values.size_bytes(), stream_);
  }
  std::vector<T> read() const {
    std::vector<T> values(count_);
    copy(values.data(), data_, count_ * sizeof(T), stream_);
    return values;
  }

 private:
  T* data_ = nullptr;
  std::uint64_t count_ = 0;
  Stream stream_;
};

}  // namespace holdall::kernels
