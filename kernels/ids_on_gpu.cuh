// Vertices' ids on a GPU, whatever their width: 16 bytes of them at once, and atomics.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/vertex.hpp"

namespace holdall::kernels::gpu {

constexpr int group_ids = 16 / sizeof(Vertex);
struct IdGroup {
  Vertex ids[group_ids];
};

// Ids that `at` is past a 16-byte boundary.
__host__ __device__ inline std::uint64_t ids_past_group(const Vertex* at) {
  return reinterpret_cast<std::uintptr_t>(at) / sizeof(Vertex) % group_ids;
}

// From a 16-byte boundary.
__device__ inline IdGroup load_group(const Vertex* at) {
  const uint4 bits = __ldg(reinterpret_cast<const uint4*>(at));
  IdGroup group;
  memcpy(&group, &bits, sizeof group);
  return group;
}

// CUDA's atomics of 64 bits take another type than std::uint64_t.
using AtomicId = std::conditional_t<sizeof(Vertex) == 8, unsigned long long, unsigned>;

// What was there; `desired` is there now if that was `expected`.
__device__ inline Vertex exchange_if(Vertex* at, Vertex expected, Vertex desired) {
  return atomicCAS(reinterpret_cast<AtomicId*>(at), AtomicId{expected}, AtomicId{desired});
}

// What was there; the smaller of both is there now.
__device__ inline Vertex lower(Vertex* at, Vertex value) {
  return atomicMin(reinterpret_cast<AtomicId*>(at), AtomicId{value});
}

}  // namespace holdall::kernels::gpu
