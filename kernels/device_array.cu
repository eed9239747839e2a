#include "kernels/gpu.hpp"
#include "kernels/on_gpu.cuh"

namespace holdall::kernels::gpu {

void* allocate(Bytes bytes, Stream stream) {
  const OnDeviceOf device(stream);
  void* at = nullptr;
  check(cudaMalloc(&at, bytes > 0 ? bytes : 1));
  return at;
}

void free(void* at, Stream) noexcept { static_cast<void>(cudaFree(at)); }

void copy(void* to, const void* from, Bytes bytes, Stream stream) {
  const OnDeviceOf device(stream);
  if (bytes > 0) check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream.cuda()));
  check(cudaStreamSynchronize(stream.cuda()));
}

}  // namespace holdall::kernels::gpu
