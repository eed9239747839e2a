// What the tests of paged graphs page with: HOLDALL_TEST_DRIVER, `cuda` or, without it, `host`.
#pragma once

#include <cstdlib>
#include <string>

#include "engine/vmm/driver.hpp"

namespace holdall::graph {

inline std::string test_driver() {
  const char* const named = std::getenv("HOLDALL_TEST_DRIVER");
  return named ? named : "host";
}

// Whether it has so many devices; the host driver makes any number.
inline bool test_driver_has(int devices) {
  return test_driver() == "host" || vmm::make_cuda_driver()->devices() >= devices;
}

}  // namespace holdall::graph
