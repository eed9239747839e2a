#include "apps/embedding/header.hpp"

#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "engine/vmm/bytes.hpp"

namespace holdall::embedding {

std::string npy_header(kernels::RowType type, std::uint64_t rows, std::uint32_t dim) {
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}, {}), }}",
                                 type == kernels::RowType::fp16 ? "<f2" : "<f4", rows, dim);
  constexpr std::size_t before = 10;  // magic, version, length
  text.resize(round_up(before + text.size() + 1, 64) - before - 1, ' ');
  text += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

std::string safetensors_header(kernels::RowType type, std::uint64_t rows, std::uint32_t dim,
                               bool keyed) {
  using kernels::RowType;
  const Bytes end = rows * dim * kernels::element_bytes(type);
  nlohmann::json header;
  header["rows"] = {{"dtype", type == RowType::fp32   ? "F32"
                              : type == RowType::fp16 ? "F16"
                                                      : "BF16"},
                    {"shape", {rows, dim}},
                    {"data_offsets", {0, end}}};
  if (keyed)
    header["keys"] = {{"dtype", "U64"}, {"shape", {rows}}, {"data_offsets", {end, end + rows * 8}}};
  std::string text = header.dump();
  text.resize(round_up(text.size(), 8), ' ');
  std::string length(8, '\0');
  const std::uint64_t size = text.size();
  std::memcpy(length.data(), &size, 8);
  return length + text;
}

}  // namespace holdall::embedding
