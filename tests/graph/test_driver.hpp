// What the tests of paged graphs page with: HOLDALL_TEST_DRIVER, `cuda` or, without it, `host`.
#pragma once

#include <gtest/gtest.h>

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

// Where there is no GPU, nothing is tested on one.
class TestDriver : public testing::Environment {
  void SetUp() override {
    std::string why;
    if (test_driver() == "cuda" && !vmm::cuda_available(&why)) GTEST_SKIP() << "no GPU: " << why;
  }
};
inline const testing::Environment* const test_driver_environment =
    testing::AddGlobalTestEnvironment(new TestDriver);

}  // namespace holdall::graph
