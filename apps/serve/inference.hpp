// An inference request and its answer, whatever carries them: tensors by name, as the open
// inference protocol, version 2 (KServe), has them.
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
  // That the shape needs. Throws RequestError 400: a datatype that is not known, or too many.
  std::uint64_t bytes_needed() const;
};

struct WantedOutput {
  std::string name;
  bool binary = false;  // where an answer is JSON or binary
};

// Views into what was read: that has to outlive this.
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

// No request needs more inputs, outputs or dimensions of a tensor.
constexpr std::size_t max_tensors = 8, max_dimensions = 8;

struct OutputTensor {
  std::string name;
  std::string datatype;  // "FP32", "BOOL"
  std::vector<std::uint64_t> shape;
  std::string bytes;
  bool binary = false;
};
struct InferAnswer {
  std::string model;
  std::string version;
  std::string id;
  std::vector<OutputTensor> outputs;
};

}  // namespace holdall::serve
