// Rows read and written on the GPU: by a group of lanes, in pieces that each lane handles alone.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <bit>

#include "kernels/lookup.hpp"
#include "kernels/on_gpu.cuh"

namespace holdall::kernels::gpu {

// Reads a word of a table that another kernel may be writing: from L2, where writes arrive. (For
// the host only so that it compiles there.)
struct LoadOnGpu {
  template <typename T>
  __host__ __device__ T operator()(T* at) const {
#ifdef __CUDA_ARCH__
    if constexpr (sizeof(T) == 8)
      return __ldcg(reinterpret_cast<unsigned long long*>(at));
    else
      return __ldcg(at);
#else
    return *at;
#endif
  }
};

template <typename Word>
__device__ Word load_word(const TableView& table, const std::byte* at) {
  const auto* const word = reinterpret_cast<const Word*>(at);
  return table.moving ? __ldcg(word) : *word;
}

__device__ inline float as_float(RowType type, std::uint16_t half) {
  return type == RowType::fp16 ? __half2float(__ushort_as_half(half)) : from_bf16(half);
}
__device__ inline std::uint16_t as_half(RowType type, float value) {
  return type == RowType::fp16 ? __half_as_ushort(__float2half_rn(value)) : to_bf16(value);
}

// V elements, 1 or 4, as floats. `i` is the first.
template <int V>
struct Floats {
  float v[V];
};

// Not contracted, so that the bits are the host's.
__device__ inline float scaled(float value, float scale, float offset) {
  return __fadd_rn(__fmul_rn(value, scale), offset);
}

template <int V>
__device__ Floats<V> load_floats(const TableView& table, RowAt from, std::uint32_t i) {
  Floats<V> out;
  const auto [row, type] = from;
  if (type == RowType::fp32) {
    if constexpr (V == 4) {
      const float4 four = load_word<float4>(table, row + 4 * std::uint64_t{i});
      out = {four.x, four.y, four.z, four.w};
    } else {
      out.v[0] = load_word<float>(table, row + 4 * std::uint64_t{i});
    }
  } else if (type == RowType::int8) {
    const std::byte* const by = row + scale_at(table.row.dim);
    const float scale = load_word<float>(table, by);
    const float offset = load_word<float>(table, by + 4);
    if constexpr (V == 4) {
      const std::uint32_t four = load_word<unsigned>(table, row + i);
#pragma unroll
      for (int k = 0; k < 4; ++k)
        out.v[k] = scaled(static_cast<float>(four >> 8 * k & 0xff), scale, offset);
    } else {
      out.v[0] =
          scaled(static_cast<float>(load_word<unsigned char>(table, row + i)), scale, offset);
    }
  } else {
    const std::byte* const at = row + 2 * std::uint64_t{i};
    if constexpr (V == 4) {
      const uint2 four = load_word<uint2>(table, at);
      out = {as_float(type, static_cast<std::uint16_t>(four.x)),
             as_float(type, static_cast<std::uint16_t>(four.x >> 16)),
             as_float(type, static_cast<std::uint16_t>(four.y)),
             as_float(type, static_cast<std::uint16_t>(four.y >> 16))};
    } else {
      out.v[0] = as_float(type, load_word<unsigned short>(table, at));
    }
  }
  return out;
}

template <int V>
__device__ Floats<V> fallback_floats(const TableView& table, std::uint32_t i) {
  Floats<V> out;
#pragma unroll
  for (int k = 0; k < V; ++k) out.v[k] = table.fallback != nullptr ? table.fallback[i + k] : 0.0f;
  return out;
}

template <int V>
__device__ void store_floats(RowType type, std::byte* row, std::uint32_t i, const Floats<V>& in) {
  if (type == RowType::fp32) {
    auto* const to = reinterpret_cast<float*>(row) + i;
    if constexpr (V == 4) {
      *reinterpret_cast<float4*>(to) = make_float4(in.v[0], in.v[1], in.v[2], in.v[3]);
    } else {
      *to = in.v[0];
    }
    return;
  }
  auto* const to = reinterpret_cast<std::uint16_t*>(row) + i;
  if constexpr (V == 4) {
    const auto two = [type](float low, float high) {
      return as_half(type, low) | std::uint32_t{as_half(type, high)} << 16;
    };
    *reinterpret_cast<uint2*>(to) = make_uint2(two(in.v[0], in.v[1]), two(in.v[2], in.v[3]));
  } else {
    *to = as_half(type, in.v[0]);
  }
}

// Ways to copy a row to its place in the output, piece by piece. Words: the types are the same and
// both sides are aligned to 16 bytes.
struct Words {
  using Piece = uint4;
  static __host__ __device__ std::uint32_t pieces(const TableView& table) {
    return table.row.dim * element_bytes(table.row.type) / 16;
  }
  static __device__ Piece load(const TableView& table, RowAt row, std::uint32_t i) {
    return load_word<uint4>(table, row.at + 16 * std::uint64_t{i});
  }
  static __device__ Piece fallback(const TableView& table, const RowsOut& out, std::uint32_t i) {
    if (out.type == RowType::fp32) {
      const Floats<4> four = fallback_floats<4>(table, 4 * i);
      return {__float_as_uint(four.v[0]), __float_as_uint(four.v[1]), __float_as_uint(four.v[2]),
              __float_as_uint(four.v[3])};
    }
    const Floats<8> eight = fallback_floats<8>(table, 8 * i);
    const auto two = [&](int k) {
      return as_half(out.type, eight.v[k]) | std::uint32_t{as_half(out.type, eight.v[k + 1])} << 16;
    };
    return {two(0), two(2), two(4), two(6)};
  }
  static __device__ void store(const RowsOut& out, std::uint64_t row, std::uint32_t i,
                               Piece piece) {
    *reinterpret_cast<uint4*>(static_cast<std::byte*>(out.rows) + row * out.stride +
                              16 * std::uint64_t{i}) = piece;
  }
};

template <int V>
struct Converted {
  using Piece = Floats<V>;
  static __host__ __device__ std::uint32_t pieces(const TableView& table) {
    return table.row.dim / V;
  }
  static __device__ Piece load(const TableView& table, RowAt row, std::uint32_t i) {
    return load_floats<V>(table, row, i * V);
  }
  static __device__ Piece fallback(const TableView& table, const RowsOut&, std::uint32_t i) {
    return fallback_floats<V>(table, i * V);
  }
  static __device__ void store(const RowsOut& out, std::uint64_t row, std::uint32_t i,
                               const Piece& piece) {
    store_floats<V>(out.type, static_cast<std::byte*>(out.rows) + row * out.stride, i * V, piece);
  }
};

inline bool aligned(const RowsOut& out, std::uint64_t bytes) {
  return reinterpret_cast<std::uintptr_t>(out.rows) % bytes == 0 && out.stride % bytes == 0;
}

// Calls `call(way)` with the widest way that a row can be copied in.
template <typename Call>
void with_way(const TableView& table, const RowsOut& out, Call call) {
  const std::uint32_t bytes = table.row.dim * element_bytes(table.row.type);
  if (table.one_type() && out.type == table.row.type && out.type != RowType::int8 &&
      bytes % 16 == 0 && bytes > 0 && aligned(out, 16))
    return call(Words());
  if (table.row.dim % 4 == 0 && aligned(out, 4 * std::uint64_t{element_bytes(out.type)}))
    return call(Converted<4>());
  call(Converted<1>());
}

// How many lanes share a row.
inline std::uint32_t lanes_for(std::uint32_t pieces) {
  return std::min(32u, std::bit_ceil(std::max(1u, pieces)));
}

}  // namespace holdall::kernels::gpu
