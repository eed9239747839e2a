// What a request asks a table: rows of keys, or bags of rows pooled.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/serve/inference.hpp"
#include "kernels/pool.hpp"

namespace holdall::serve {

struct Question {
  std::vector<std::uint64_t> keys;  // of bags: their indices

  bool pooled = false;
  std::vector<std::uint64_t> offsets;  // [bags + 1], from 0 up to keys.size()
  std::vector<float> weights;          // [keys], or none
  kernels::Pooling pooling = kernels::Pooling::sum;
  std::int64_t padding = -1;

  bool rows_wanted = true;  // or the bags
  bool rows_binary = false;
  bool found_wanted = false;
  bool found_binary = false;

  std::uint64_t answers() const { return pooled ? offsets.size() - 1 : keys.size(); }
};

// Throws RequestError: 400 for what makes no sense, 413 for more than `max_keys` keys or bags.
Question question_of(const InferRequest& request, std::uint64_t max_keys);

// The tensors that a table of rows of `dim` has: of its requests, and of its answers. A length of
// -1 is any.
struct TensorInfo {
  const char* name;
  const char* datatype;
  std::vector<std::int64_t> shape;
};
std::vector<TensorInfo> question_inputs();
std::vector<TensorInfo> question_outputs(std::uint32_t dim);

}  // namespace holdall::serve
