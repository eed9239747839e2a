// Puts together what several parts of a graph have found of the same vertices. `from` may be a
// peer's memory, or pinned. Nothing waits. They throw Error if `stream` is a GPU's and the library
// was built without CUDA; DriverError.
#pragma once

#include <cstdint>

#include "engine/vmm/stream.hpp"

namespace holdall::kernels {

// to |= from.
void unite_bits(std::uint64_t* to, const std::uint64_t* from, std::uint64_t words, Stream stream);

// to = the smaller of both, one by one.
void lower_values(std::uint32_t* to, const std::uint32_t* from, std::uint64_t count, Stream stream);
void lower_values(std::uint64_t* to, const std::uint64_t* from, std::uint64_t count, Stream stream);

}  // namespace holdall::kernels
