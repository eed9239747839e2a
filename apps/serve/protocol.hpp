// The open inference protocol, version 2 (KServe), over HTTP, apart from any socket: what a
// request's body says, and how an answer is put. Tensors are JSON, or binary behind the JSON as the
// protocol's extension has it: a header tells the length of the JSON, `binary_data_size` that of
// each tensor.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apps/serve/inference.hpp"

namespace holdall::serve {

// JSON is at most this long: a tree of it takes many times its length. Longer tensors are sent
// binary.
constexpr std::uint64_t max_json = std::uint64_t{4} << 20;

// `json_length`: the header Inference-Header-Content-Length, if there was one. Throws RequestError.
InferRequest parse_infer(std::string_view body, std::optional<std::string_view> json_length);

struct PrintedAnswer {
  std::string body;
  std::vector<std::string> tensors;          // that are binary, behind it
  std::optional<std::uint64_t> json_length;  // of the body, where there are
};
// What is no number has no word in JSON and is printed as null.
PrintedAnswer print_infer(InferAnswer answer);

// {"error": reason}
std::string print_error(std::string_view reason);

}  // namespace holdall::serve
