// What an answer of libcuda means to the port.
#pragma once

#include <cuda.h>

#include "engine/vmm/driver.hpp"

namespace holdall::vmm::cuda {

// The context gave this answer and will give it to every later call: the device is lost.
bool sticky(CUresult result);

Status status_of(CUresult result);

}  // namespace holdall::vmm::cuda
