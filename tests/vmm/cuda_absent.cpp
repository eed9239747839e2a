#include <gtest/gtest.h>

#include <cstdlib>

#include "engine/vmm/driver.hpp"
#include "engine/vmm/error.hpp"

namespace holdall {
namespace {

TEST(CudaWithoutADriver, SaysWhyAndWhatToDo) {
  setenv("HOLDALL_LIBCUDA", "/nowhere/libcuda.so.1", 1);
  std::string why;
  EXPECT_FALSE(vmm::cuda_available(&why));
  EXPECT_NE(why.find("install"), std::string::npos) << why;
  EXPECT_NE(why.find("host driver"), std::string::npos) << why;
  EXPECT_FALSE(vmm::cuda_available());
}

TEST(CudaWithoutADriver, ThrowsNoDeviceWithTheSameWords) {
  setenv("HOLDALL_LIBCUDA", "/nowhere/libcuda.so.1", 1);
  std::string why;
  vmm::cuda_available(&why);
  try {
    vmm::make_cuda_driver();
    FAIL() << "made a driver of nothing";
  } catch (const NoDevice& error) {
    EXPECT_EQ(error.what(), why);
  }
}

}  // namespace
}  // namespace holdall
