// The open inference protocol, version 2 (KServe), over HTTP, apart from any socket: what a
// request's body says, and how an answer is put. Tensors are JSON, or binary behind the JSON as the
// protocol's extension has it: a header tells the length of the JSON, `binary_data_size` that of
// each tensor.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/vmm/error.hpp"

namespace holdall::serve {

// What the client did wrong, or cannot have now: an HTTP status and the reason.
class RequestError : public Error {
 public:
  RequestError(int status, const std::string& reason) : Error(reason), status_(status) {}
  int status() const { return status_; }

 private:
  int status_;
};

struct Tensor {
  std::string name;
  std::string datatype;  // "INT64"
  std::vector<std::uint64_t> shape;
  std::string_view bytes;  // of elements in order, little-endian; not aligned

  std::uint64_t elements() const;
};

struct WantedOutput {
  std::string name;
  bool binary = false;
};

// Views into the body that was parsed: it has to outlive this.
struct InferRequest {
  InferRequest() = default;
  InferRequest(InferRequest&&) = default;
  InferRequest& operator=(InferRequest&&) = default;

  std::string id;
  std::vector<Tensor> inputs;
  std::vector<WantedOutput> outputs;  // empty: all
  bool binary_outputs = false;        // those that say nothing else
  // Parameters of the request that pooling has.
  std::string mode = "sum";
  std::optional<std::int64_t> padding_idx;
  bool include_last_offset = false;

  std::vector<std::vector<char>> storage;  // of tensors that were JSON
};

// JSON is at most this long: a tree of it takes many times its length. Longer tensors are sent
// binary.
constexpr std::uint64_t max_json = std::uint64_t{4} << 20;

// `json_length`: the header Inference-Header-Content-Length, if there was one. Throws RequestError.
InferRequest parse_infer(std::string_view body, std::optional<std::string_view> json_length);

struct OutputTensor {
  std::string name;
  std::string datatype;  // "FP32", "BOOL"
  std::vector<std::uint64_t> shape;
  std::string_view bytes;
  bool binary = false;
};
struct InferAnswer {
  std::string model;
  std::string version;
  std::string id;
  std::vector<OutputTensor> outputs;
};
struct PrintedAnswer {
  std::string body;
  std::optional<std::uint64_t> json_length;  // where a tensor is binary
};
// What is no number has no word in JSON and is printed as null.
PrintedAnswer print_infer(const InferAnswer& answer);

// {"error": reason}
std::string print_error(std::string_view reason);

}  // namespace holdall::serve
