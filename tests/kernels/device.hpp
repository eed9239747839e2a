// The devices that every test of a step runs on: the host driver's, and a GPU where there is one.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#ifdef HOLDALL_CUDA
#include <cuda_runtime_api.h>
#endif

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/vmm/driver.hpp"
#include "engine/vmm/host.hpp"
#include "engine/vmm/stream.hpp"

namespace holdall::kernels {

class Device {
 public:
  virtual ~Device() = default;
  virtual Stream stream() const = 0;
  virtual void* allocate(Bytes bytes) = 0;  // aligned to 256 bytes
  virtual void free(void* at) = 0;
  virtual void wait() = 0;                                         // for the stream
  virtual void copy(void* to, const void* from, Bytes bytes) = 0;  // either way; waits
};

class HostDevice final : public Device {
 public:
  HostDevice() : driver_(vmm::make_host_driver()) {
    vmm::check(driver_->create_stream(stream_, 0), "create a stream");
  }
  ~HostDevice() override { EXPECT_EQ(driver_->destroy_stream(stream_), vmm::Status::ok); }
  Stream stream() const override { return stream_; }
  // A huge array takes memory only where it is written.
  void* allocate(Bytes bytes) override {
    if (bytes < huge) return ::operator new (bytes, std::align_val_t{256});
    void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    mapped_[at] = bytes;
    return at;
  }
  void free(void* at) override {
    if (const auto mapped = mapped_.find(at); mapped != mapped_.end()) {
      EXPECT_EQ(munmap(at, mapped->second), 0);
      mapped_.erase(mapped);
    } else {
      ::operator delete (at, std::align_val_t{256});
    }
  }
  void wait() override { vmm::check(driver_->synchronize(stream_), "wait for the stream"); }
  void copy(void* to, const void* from, Bytes bytes) override {
    wait();
    if (bytes > 0) std::memcpy(to, from, bytes);
  }

 private:
  static constexpr Bytes huge = 1_GiB;
  std::map<void*, Bytes> mapped_;
  std::unique_ptr<vmm::HostDriver> driver_;
  Stream stream_;
};

#ifdef HOLDALL_CUDA
class GpuDevice final : public Device {
 public:
  GpuDevice() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~GpuDevice() override { EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess); }
  Stream stream() const override { return stream_; }
  void* allocate(Bytes bytes) override {
    void* at = nullptr;
    check(cudaMalloc(&at, bytes + 1));
    return at;
  }
  void free(void* at) override { EXPECT_EQ(cudaFree(at), cudaSuccess); }
  void wait() override { check(cudaStreamSynchronize(stream_)); }
  void copy(void* to, const void* from, Bytes bytes) override {
    if (bytes > 0) check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_));
    wait();
  }

 private:
  static void check(cudaError_t error) {
    if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
  }
  cudaStream_t stream_ = nullptr;
};
#endif

// An array in a device's memory. `skew` elements lie before it, so that it starts that far past a
// 256-byte boundary.
template <typename T>
class Array {
 public:
  Array(Device& device, std::uint64_t count, std::uint64_t skew = 0)
      : device_(device),
        start_(device.allocate((count + skew) * sizeof(T))),
        count_(count),
        skew_(skew) {}
  Array(Device& device, const std::vector<T>& values, std::uint64_t skew = 0)
      : Array(device, values.size(), skew) {
    device.copy(data(), values.data(), count_ * sizeof(T));
  }
  Array(const Array&) = delete;
  ~Array() { device_.free(start_); }

  T* data() const { return static_cast<T*>(start_) + skew_; }
  std::vector<T> read() const {
    std::vector<T> values(count_);
    device_.copy(values.data(), data(), count_ * sizeof(T));
    return values;
  }

 private:
  Device& device_;
  void* start_;
  std::uint64_t count_;
  std::uint64_t skew_;
};

// A test that is given a device by the name "host" or "gpu".
class OnDevice : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "host") {
      device_ = std::make_unique<HostDevice>();
      return;
    }
#ifdef HOLDALL_CUDA
    std::string why;
    if (!vmm::cuda_available(&why)) GTEST_SKIP() << "no GPU: " << why;
    device_ = std::make_unique<GpuDevice>();
#else
    GTEST_SKIP() << "no GPU: built without CUDA";
#endif
  }
  Device& device() { return *device_; }
  Stream stream() const { return device_->stream(); }

 private:
  std::unique_ptr<Device> device_;
};

#define ON_EVERY_DEVICE(fixture)                                             \
  INSTANTIATE_TEST_SUITE_P(Kernels, fixture, testing::Values("host", "gpu"), \
                           [](const auto& given) { return std::string(given.param); })

}  // namespace holdall::kernels
