#include "kernels/row.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace holdall::kernels {
namespace {

TEST(Row, EveryHalfSurvivesTheWayToAFloatAndBack) {
  for (std::uint32_t half = 0; half < 65536; ++half) {
    const auto bits = static_cast<std::uint16_t>(half);
    if (std::isnan(from_fp16(bits))) {
      EXPECT_TRUE(std::isnan(from_fp16(to_fp16(from_fp16(bits)))));
    } else {
      EXPECT_EQ(to_fp16(from_fp16(bits)), bits);
    }
    if (std::isnan(from_bf16(bits))) {
      EXPECT_TRUE(std::isnan(from_bf16(to_bf16(from_bf16(bits)))));
    } else {
      EXPECT_EQ(to_bf16(from_bf16(bits)), bits);
    }
  }
}

TEST(Row, FloatsGoToTheNearestHalfAndTiesToTheEvenOne) {
  for (std::uint32_t half = 0; half < 0x7c00; ++half) {
    const float low = from_fp16(static_cast<std::uint16_t>(half));
    const float high = half == 0x7bff ? 65536.0f : from_fp16(static_cast<std::uint16_t>(half + 1));
    const float middle = low / 2 + high / 2;  // exact
    EXPECT_EQ(to_fp16(std::nextafter(middle, 0.0f)), half);
    EXPECT_EQ(to_fp16(std::nextafter(middle, HUGE_VALF)), half + 1);
    EXPECT_EQ(to_fp16(middle), half % 2 == 0 ? half : half + 1);
    EXPECT_EQ(to_fp16(-middle), 0x8000 | (half % 2 == 0 ? half : half + 1));
  }
}

TEST(Row, Int8IsWithinHalfAStep) {
  const Int8Scale by = int8_scale(-3, 5);
  for (float value = -3; value <= 5; value += 0.001f)
    EXPECT_NEAR(from_int8(to_int8(value, by), by), value, 8.0 / 255 / 2 + 1e-5);
  EXPECT_EQ(from_int8(to_int8(7, int8_scale(7, 7)), int8_scale(7, 7)), 7);
}

}  // namespace
}  // namespace holdall::kernels
