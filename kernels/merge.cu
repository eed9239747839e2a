#include "kernels/gpu.hpp"
#include "kernels/on_gpu.cuh"

namespace holdall::kernels::gpu {
namespace {

__global__ void unite(std::uint64_t* to, const std::uint64_t* __restrict__ from,
                      std::uint64_t words) {
  const std::uint64_t i = thread_index();
  if (i >= words) return;
  const std::uint64_t both = to[i] | from[i];
  if (both != to[i]) to[i] = both;
}

template <typename T>
__global__ void lower(T* to, const T* __restrict__ from, std::uint64_t count) {
  const std::uint64_t i = thread_index();
  if (i >= count) return;
  const T its = from[i];
  if (its < to[i]) to[i] = its;
}

}  // namespace

void unite_bits(std::uint64_t* to, const std::uint64_t* from, std::uint64_t words, Stream stream) {
  const OnDeviceOf device(stream);
  launch_threads(unite, words, stream, to, from, words);
}

void lower_values(std::uint32_t* to, const std::uint32_t* from, std::uint64_t count,
                  Stream stream) {
  const OnDeviceOf device(stream);
  launch_threads(lower<std::uint32_t>, count, stream, to, from, count);
}

void lower_values(std::uint64_t* to, const std::uint64_t* from, std::uint64_t count,
                  Stream stream) {
  const OnDeviceOf device(stream);
  launch_threads(lower<std::uint64_t>, count, stream, to, from, count);
}

}  // namespace holdall::kernels::gpu
