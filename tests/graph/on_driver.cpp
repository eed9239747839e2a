// The main of tests that run on either driver: of those that were asked to run on a GPU where there
// is none, one says so in the place of all.
#include <gtest/gtest.h>

#include <string>

#include "tests/graph/test_driver.hpp"

namespace holdall::graph {
namespace {

std::string why_not;

TEST(Gpu, is_there) {
  if (!why_not.empty()) GTEST_SKIP() << "no GPU: " << why_not;
}

}  // namespace
}  // namespace holdall::graph

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  using namespace holdall;
  if (graph::test_driver() == "cuda" && !vmm::cuda_available(&graph::why_not))
    GTEST_FLAG_SET(filter, "Gpu.is_there");
  return RUN_ALL_TESTS();
}
