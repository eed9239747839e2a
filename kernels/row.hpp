// Rows of an embedding table: their types, and the conversions, which are the same bit for bit on
// every driver.
#pragma once

#include <bit>
#include <cstdint>

#include "engine/vmm/bytes.hpp"

namespace holdall::kernels {

enum class RowType : std::uint8_t {
  fp32,
  fp16,
  bf16,
  int8,  // element = byte * scale + offset; both fp32, behind the row's bytes, which are unsigned
};

constexpr std::uint32_t element_bytes(RowType type) {
  return type == RowType::fp32 ? 4 : type == RowType::int8 ? 1 : 2;
}

// Where the scale of an int8 row is, from its start; the offset follows.
constexpr std::uint32_t scale_at(std::uint32_t dim) { return (dim + 3) / 4 * 4; }

// How rows lie: one every `stride` bytes, a multiple of 16, so that they can be read in words of 16
// bytes.
struct RowLayout {
  RowType type = RowType::fp32;
  std::uint32_t dim = 0;
  std::uint32_t stride = 0;
};

constexpr std::uint64_t row_bytes(RowType type, std::uint32_t dim) {
  return type == RowType::int8 ? scale_at(dim) + std::uint64_t{8}
                               : std::uint64_t{dim} * element_bytes(type);
}
constexpr RowLayout layout_of(RowType type, std::uint32_t dim) {
  return {type, dim, static_cast<std::uint32_t>(round_up(row_bytes(type, dim), 16))};
}

constexpr float from_bf16(std::uint16_t half) {
  return std::bit_cast<float>(std::uint32_t{half} << 16);
}
constexpr std::uint16_t to_bf16(float value) {  // to nearest, ties to even
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fff'ffff) > 0x7f80'0000) return static_cast<std::uint16_t>(bits >> 16 | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

constexpr float from_fp16(std::uint16_t half) {
  const std::uint32_t sign = std::uint32_t{half} >> 15 << 31;
  const std::uint32_t exponent = half >> 10 & 31;
  const std::uint32_t fraction = half & 0x3ff;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f80'0000 | fraction << 13);
  if (exponent > 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  const float small = static_cast<float>(fraction) * 0x1p-24f;
  return sign != 0 ? -small : small;
}
constexpr std::uint16_t to_fp16(float value) {  // to nearest, ties to even
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  const std::uint32_t magnitude = bits & 0x7fff'ffff;
  const auto with_sign = [sign](std::uint32_t half) {
    return static_cast<std::uint16_t>(sign | half);
  };
  if (magnitude > 0x7f80'0000) return with_sign(0x7e00 | (magnitude >> 13 & 0x3ff));
  if (magnitude >= 0x4780'0000) return with_sign(0x7c00);  // 65536 and more
  if (magnitude >= 0x3880'0000) {  // a normal half; rounding may carry it to infinity, as it should
    const std::uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
    return with_sign((rounded - 0x3800'0000) >> 13);
  }
  if (magnitude < 0x3300'0000) return sign;  // below half of the smallest
  const std::uint32_t shift = 126 - (magnitude >> 23);
  const std::uint32_t fraction = (magnitude & 0x7f'ffff) | 0x80'0000;
  const std::uint32_t half = fraction >> shift;
  const std::uint32_t rest = fraction & ((1u << shift) - 1);
  const std::uint32_t middle = 1u << (shift - 1);
  return with_sign(half + (rest > middle || (rest == middle && (half & 1) != 0) ? 1 : 0));
}

// The scale and offset of an int8 row of values between `least` and `most`.
struct Int8Scale {
  float scale = 0;
  float offset = 0;
};
constexpr Int8Scale int8_scale(float least, float most) { return {(most - least) / 255.0f, least}; }
constexpr std::uint8_t to_int8(float value, Int8Scale by) {
  if (!(by.scale > 0)) return 0;
  const float steps = (value - by.offset) / by.scale + 0.5f;
  return steps <= 0 ? 0 : steps >= 255 ? 255 : static_cast<std::uint8_t>(steps);
}

// Element `i` of a row.
constexpr float from_int8(std::uint8_t byte, Int8Scale by) {
  return static_cast<float>(byte) * by.scale + by.offset;
}

}  // namespace holdall::kernels
