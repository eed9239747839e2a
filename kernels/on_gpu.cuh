// What the device bodies share.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cub/device/device_scan.cuh>
#include <limits>
#include <source_location>
#include <string>

#include "engine/vmm/error.hpp"
#include "engine/vmm/stream.hpp"

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

namespace holdall::kernels::gpu {

constexpr int block_threads = 256;

// Throws DriverError, saying what failed and where.
inline void check(cudaError_t error, std::source_location where = std::source_location::current()) {
  if (error == cudaSuccess) return;
  vmm::Status status = vmm::Status::unknown;
  switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
      status = vmm::Status::illegal_address;
      break;
    case cudaErrorMemoryAllocation:
      status = vmm::Status::out_of_memory;
      break;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
      status = vmm::Status::no_device;
      break;
    case cudaErrorInvalidValue:
      status = vmm::Status::invalid_value;
      break;
    default:
      break;
  }
  throw DriverError(status, std::string("cannot run a kernel: ") + cudaGetErrorString(error) +
                                " [" + where.file_name() + ":" + std::to_string(where.line()) +
                                "]");
}

// Makes a stream's device the current one for as long as it lives.
class OnDeviceOf {
 public:
  explicit OnDeviceOf(Stream stream) {
    int device = 0;
    check(cudaStreamGetDevice(stream.cuda(), &device));
    check(cudaGetDevice(&before_));
    if (device == before_) return;
    check(cudaSetDevice(device));
    changed_ = true;
  }
  OnDeviceOf(const OnDeviceOf&) = delete;
  ~OnDeviceOf() {
    if (changed_) static_cast<void>(cudaSetDevice(before_));
  }

 private:
  int before_ = 0;
  bool changed_ = false;
};

// Launches `kernel` with a thread for each of `threads`; nothing if there are none.
template <typename... Parameters, typename... Arguments>
void launch_threads(void (*kernel)(Parameters...), std::uint64_t threads, Stream stream,
                    Arguments... arguments) {
  if (threads == 0) return;
  const std::uint64_t blocks = (threads + block_threads - 1) / block_threads;
  if (blocks > std::numeric_limits<std::int32_t>::max()) check(cudaErrorInvalidConfiguration);
  kernel<<<static_cast<unsigned>(blocks), block_threads, 0, stream.cuda()>>>(arguments...);
  check(cudaGetLastError());
}

__device__ inline std::uint64_t thread_index() {
  return std::uint64_t{blockIdx.x} * block_threads + threadIdx.x;
}

// Cuts a workspace into arrays, each aligned to 256 bytes. From a null start it only measures.
class Workspace {
 public:
  explicit Workspace(void* start) : start_(static_cast<std::byte*>(start)) {}

  template <typename T>
  T* take(std::uint64_t count) {
    std::byte* at = start_ == nullptr ? nullptr : start_ + taken_;
    taken_ += round_up(count * sizeof(T), 256);
    return reinterpret_cast<T*>(at);
  }
  Bytes taken() const { return taken_; }

 private:
  std::byte* start_;
  Bytes taken_ = 0;
};

template <typename Sum>
struct Nothing {
  __device__ Sum operator()(std::uint64_t) const { return 0; }
};
template <typename Sum, typename Value>
struct Guarded {
  Value value;
  std::uint64_t count;
  __device__ Sum operator()(std::uint64_t i) const { return i < count ? value(i) : Sum{0}; }
};

// out[i] = value(0) + ... + value(i - 1) for i in [0, count]. `value` is a device function object,
// asked for i < count alone; it must not read `out`.
template <typename Sum>
class ExclusiveScan {
 public:
  ExclusiveScan(Workspace& workspace, std::uint64_t most) {
    check(cub::DeviceScan::ExclusiveSum(nullptr, bytes_, input(Nothing<Sum>{}, most),
                                        static_cast<Sum*>(nullptr), most + 1));
    storage_ = workspace.take<std::byte>(bytes_);
  }

  template <typename Value>
  void run(std::uint64_t count, Value value, Sum* out, Stream stream) const {
    std::size_t bytes = bytes_;
    check(cub::DeviceScan::ExclusiveSum(storage_, bytes, input(value, count), out, count + 1,
                                        stream.cuda()));
  }

 private:
  template <typename Value>
  static auto input(Value value, std::uint64_t count) {
    return thrust::make_transform_iterator(thrust::make_counting_iterator(std::uint64_t{0}),
                                           Guarded<Sum, Value>{value, count});
  }

  std::size_t bytes_ = 0;
  std::byte* storage_ = nullptr;
};

// Copies one value from the device; waits for the stream.
template <typename T>
T read_back(const T* from, Stream stream) {
  T value;
  check(cudaMemcpyAsync(&value, from, sizeof(T), cudaMemcpyDeviceToHost, stream.cuda()));
  check(cudaStreamSynchronize(stream.cuda()));
  return value;
}

}  // namespace holdall::kernels::gpu
