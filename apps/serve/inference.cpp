#include "apps/serve/inference.hpp"

#include <fmt/format.h>

#include <map>

namespace holdall::serve {

namespace {

// Bytes of an element. BYTES, whose elements differ in length, is of no use here.
std::uint64_t element_bytes(const Tensor& tensor) {
  static const std::map<std::string_view, std::uint64_t> known = {
      {"BOOL", 1},   {"UINT8", 1}, {"INT8", 1},   {"UINT16", 2}, {"INT16", 2},
      {"FP16", 2},   {"BF16", 2},  {"UINT32", 4}, {"INT32", 4},  {"FP32", 4},
      {"UINT64", 8}, {"INT64", 8}, {"FP64", 8}};
  const auto found = known.find(tensor.datatype);
  if (found == known.end())
    throw RequestError(
        400, fmt::format("input '{}' has datatype '{}', which is none of those that are served: "
                         "INT64 and FP32",
                         tensor.name, tensor.datatype.substr(0, 32)));
  return found->second;
}

}  // namespace

std::uint64_t Tensor::elements() const {
  std::uint64_t all = 1;
  for (const std::uint64_t length : shape) all *= length;
  return all;
}

std::uint64_t Tensor::bytes_needed() const {
  constexpr std::uint64_t most = std::uint64_t{1} << 40;
  std::uint64_t bytes = element_bytes(*this);
  if (shape.size() > max_dimensions)
    throw RequestError(400,
                       fmt::format("input '{}' has more than {} dimensions", name, max_dimensions));
  for (const std::uint64_t length : shape) {
    if (length > most)
      throw RequestError(400,
                         fmt::format("a length in the shape of input '{}' is above 2^40", name));
    bytes = length != 0 && bytes > most / length ? most + 1 : bytes * length;
    if (bytes > most)
      throw RequestError(400,
                         fmt::format("the shape of input '{}' is of more than 2^40 bytes", name));
  }
  return bytes;
}

}  // namespace holdall::serve
