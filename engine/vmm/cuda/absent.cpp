// What stands in for the cuda driver in a build without the CUDA headers.
#include "engine/vmm/error.hpp"

namespace holdall::vmm {

namespace {
constexpr const char* reason =
    "built without the CUDA headers; install the CUDA toolkit (12.8 or newer) and build again with "
    "-Dcuda=enabled, or use the host driver";
}

std::unique_ptr<Driver> make_cuda_driver() { throw NoDevice(reason); }

bool cuda_available(std::string* why) {
  if (why) *why = reason;
  return false;
}

}  // namespace holdall::vmm
