#include "kernels/device_array.hpp"

#include <cstring>
#include <new>

#include "kernels/gpu.hpp"
#include "kernels/on_host.hpp"

namespace holdall::kernels {
namespace {

constexpr std::align_val_t alignment{256};

}  // namespace

void* allocate(Bytes bytes, Stream stream) {
  if (!stream.on_host()) return gpu::allocate(bytes, stream);
  void* at = ::operator new(bytes, alignment, std::nothrow);
  if (at != nullptr) return at;
  throw DriverError(vmm::Status::out_of_memory,
                    "cannot allocate " + to_string(bytes) + " of host memory");
}

void free(void* at, Stream stream) noexcept {
  if (!stream.on_host()) return gpu::free(at, stream);
  ::operator delete(at, alignment);
}

void copy(void* to, const void* from, Bytes bytes, Stream stream) {
  if (!stream.on_host()) return gpu::copy(to, from, bytes, stream);
  launch_and_wait(stream, [=] {
    if (bytes > 0) std::memcpy(to, from, bytes);
  });
}

}  // namespace holdall::kernels
