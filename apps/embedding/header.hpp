// The headers of the formats that are written.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/row.hpp"

namespace holdall::embedding {

std::string npy_header(kernels::RowType type, std::uint64_t rows, std::uint32_t dim);
// Of a tensor `rows` and, behind it, if `keyed`, one `keys`.
std::string safetensors_header(kernels::RowType type, std::uint64_t rows, std::uint32_t dim,
                               bool keyed);

}  // namespace holdall::embedding
