// Stands in for the CUDA driver until it is there.
#include "engine/vmm/driver.hpp"
#include "engine/vmm/error.hpp"

namespace holdall::vmm {

std::unique_ptr<Driver> make_cuda_driver() { throw NoDevice("this build has no CUDA driver"); }

bool cuda_available(std::string* why) {
  if (why != nullptr) *why = "this build has no CUDA driver";
  return false;
}

}  // namespace holdall::vmm
