// The devices that every test of a step runs on: the host driver's, and a GPU where there is one.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <memory>
#include <new>
#include <string>

#include "engine/vmm/driver.hpp"
#include "engine/vmm/error.hpp"
#include "engine/vmm/host.hpp"
#include "engine/vmm/stream.hpp"
#include "kernels/device_array.hpp"

namespace holdall::kernels {

// A test that is given a stream of a device by the name "host" or "gpu".
class OnDevice : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "host") {
      driver_ = vmm::make_host_driver();
    } else {
      std::string why;
      if (!vmm::cuda_available(&why)) GTEST_SKIP() << "no GPU: " << why;
      driver_ = vmm::make_cuda_driver();
      if (built_without_cuda()) GTEST_SKIP() << "no GPU: built without nvcc";
    }
    vmm::check(driver_->create_stream(stream_, 0), "create a stream");
    made_ = true;
  }
  void TearDown() override {
    if (!made_) return;
    EXPECT_EQ(driver_->destroy_stream(stream_), vmm::Status::ok);
  }
  Stream stream() const { return stream_; }

 private:
  static bool built_without_cuda() {
    try {
      free(allocate(1, Stream()), Stream());
      return false;
    } catch (const DriverError&) {
      throw;
    } catch (const Error&) {
      return true;
    }
  }

  std::unique_ptr<vmm::Driver> driver_;
  Stream stream_;
  bool made_ = false;
};

#define ON_EVERY_DEVICE(fixture)                                             \
  INSTANTIATE_TEST_SUITE_P(Kernels, fixture, testing::Values("host", "gpu"), \
                           [](const auto& given) { return std::string(given.param); })

// An array that on the host takes memory only where it is written.
class HugeArray {
 public:
  HugeArray(std::uint64_t count, Stream stream) : count_(count), stream_(stream) {
    if (!stream.on_host()) {
      on_gpu_ = DeviceArray<Vertex>(count, stream);
      data_ = on_gpu_.data();
      return;
    }
    void* at = mmap(nullptr, sizeof(Vertex) * count, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<Vertex*>(at);
  }
  HugeArray(const HugeArray&) = delete;
  ~HugeArray() {
    if (!stream_.on_host()) return;
    EXPECT_EQ(munmap(data_, sizeof(Vertex) * count_), 0);
  }
  Vertex* data() const { return data_; }

 private:
  std::uint64_t count_;
  Stream stream_;
  Vertex* data_ = nullptr;
  DeviceArray<Vertex> on_gpu_;
};

}  // namespace holdall::kernels
