// Rows read and written on the host.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

#include "kernels/lookup.hpp"
#include "kernels/row.hpp"
#include "kernels/table.hpp"

namespace holdall::kernels {

// Reads a word of a table that others may be writing.
struct LoadOnHost {
  template <typename T>
  T operator()(T* at) const {
    return std::atomic_ref<T>(*at).load(std::memory_order_acquire);
  }
};

template <typename T>
T load_element(const std::byte* at, std::uint64_t i) {
  T value;
  std::memcpy(&value, at + i * sizeof(T), sizeof(T));
  return value;
}

// Calls `to(i, value)` for each element of a row.
template <typename To>
void read_elements(RowType type, std::uint32_t dim, const std::byte* row, To to) {
  switch (type) {
    case RowType::fp32:
      for (std::uint32_t i = 0; i < dim; ++i) to(i, load_element<float>(row, i));
      return;
    case RowType::fp16:
      for (std::uint32_t i = 0; i < dim; ++i) to(i, from_fp16(load_element<std::uint16_t>(row, i)));
      return;
    case RowType::bf16:
      for (std::uint32_t i = 0; i < dim; ++i) to(i, from_bf16(load_element<std::uint16_t>(row, i)));
      return;
    case RowType::int8: {
      const auto by = load_element<Int8Scale>(row + scale_at(dim), 0);
      for (std::uint32_t i = 0; i < dim; ++i)
        to(i, from_int8(load_element<std::uint8_t>(row, i), by));
    }
  }
}

// Writes element i of a row that is not int8.
inline void write_element(RowType type, std::byte* row, std::uint32_t i, float value) {
  if (type == RowType::fp32) {
    std::memcpy(row + 4 * std::uint64_t{i}, &value, 4);
    return;
  }
  const std::uint16_t half = type == RowType::fp16 ? to_fp16(value) : to_bf16(value);
  std::memcpy(row + 2 * std::uint64_t{i}, &half, 2);
}

// A row of one type as a row of another; either may be int8.
inline void convert_row(RowType from_type, const std::byte* from, RowType to_type, std::byte* to,
                        std::uint32_t dim) {
  if (from_type == to_type) {
    std::memcpy(to, from, row_bytes(to_type, dim));
    return;
  }
  if (to_type != RowType::int8) {
    read_elements(from_type, dim, from,
                  [=](std::uint32_t i, float value) { write_element(to_type, to, i, value); });
    return;
  }
  float least = dim > 0 ? HUGE_VALF : 0;
  float most = -least;
  read_elements(from_type, dim, from, [&](std::uint32_t, float value) {
    least = value < least ? value : least;
    most = value > most ? value : most;
  });
  const Int8Scale by = int8_scale(least, most);
  read_elements(from_type, dim, from, [&](std::uint32_t i, float value) {
    to[i] = static_cast<std::byte>(to_int8(value, by));
  });
  std::memcpy(to + scale_at(dim), &by, sizeof(by));
}

}  // namespace holdall::kernels
