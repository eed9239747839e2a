#include "apps/serve/question.hpp"

#include <fmt/format.h>

#include <cstring>

namespace holdall::serve {

namespace {

[[noreturn]] void refuse(const std::string& reason) { throw RequestError(400, reason); }

template <class T>
std::vector<T> list_of(const Tensor& tensor, const char* datatype, std::uint64_t most) {
  if (tensor.datatype != datatype)
    refuse(fmt::format("input '{}' is {}; it is to be {}", tensor.name, tensor.datatype, datatype));
  if (tensor.shape.size() != 1)
    refuse(fmt::format("input '{}' has {} dimensions; it is to have one", tensor.name,
                       tensor.shape.size()));
  if (tensor.shape[0] > most)
    throw RequestError(413, fmt::format("input '{}' has {} elements; one request may have {}",
                                        tensor.name, tensor.shape[0], most));
  std::vector<T> list(tensor.shape[0]);
  if (!list.empty()) std::memcpy(list.data(), tensor.bytes.data(), tensor.bytes.size());
  return list;
}

const Tensor* input(const InferRequest& request, std::string_view name) {
  const Tensor* found = nullptr;
  for (const Tensor& tensor : request.inputs) {
    if (tensor.name != name) continue;
    if (found != nullptr) refuse(fmt::format("input '{}' comes twice", name));
    found = &tensor;
  }
  return found;
}

void take_bags(const InferRequest& request, const Tensor& offsets, std::uint64_t max_keys,
               Question& question) {
  std::vector<std::uint64_t>& bounds = question.offsets;
  bounds = list_of<std::uint64_t>(offsets, "INT64", max_keys + 1);
  if (request.include_last_offset && bounds.empty())
    refuse("include_last_offset is set, but there are no offsets");
  if (!request.include_last_offset) bounds.push_back(question.keys.size());
  if (bounds.size() == 1) bounds[0] = 0;
  if (bounds.size() > 1 && bounds[0] != 0)
    refuse(fmt::format("offsets begin with {}; the first bag begins at 0",
                       static_cast<std::int64_t>(bounds[0])));
  for (std::size_t i = 0; i + 1 < bounds.size(); ++i)
    if (bounds[i] > bounds[i + 1])
      refuse(fmt::format("offsets decrease, or pass the {} indices, at bag {}",
                         question.keys.size(), i));
  if (bounds.back() > question.keys.size())
    refuse(fmt::format("the last offset, {}, is past the {} indices", bounds.back(),
                       question.keys.size()));
  if (bounds.size() - 1 > max_keys)
    throw RequestError(413, fmt::format("{} bags are more than the {} of one request",
                                        bounds.size() - 1, max_keys));
  question.keys.resize(bounds.back());
  if (!question.weights.empty()) question.weights.resize(bounds.back());
}

void take_outputs(const InferRequest& request, Question& question) {
  question.rows_binary = question.found_binary = request.binary_outputs;
  if (request.outputs.empty()) return;
  const char* const rows = question.pooled ? "pooled" : "rows";
  question.rows_wanted = false;
  for (const WantedOutput& wanted : request.outputs) {
    if (wanted.name == rows) {
      question.rows_wanted = true;
      question.rows_binary = wanted.binary;
    } else if (wanted.name == "found" && !question.pooled) {
      question.found_wanted = true;
      question.found_binary = wanted.binary;
    } else {
      refuse(fmt::format("there is no output '{}' for these inputs; there {}", wanted.name,
                         question.pooled ? "is 'pooled'" : "are 'rows' and 'found'"));
    }
  }
}

}  // namespace

Question question_of(const InferRequest& request, std::uint64_t max_keys) {
  Question question;
  const Tensor* const keys = input(request, "keys");
  const Tensor* const indices = input(request, "indices");
  const Tensor* const offsets = input(request, "offsets");
  const Tensor* const weights = input(request, "per_sample_weights");
  const std::size_t known =
      (keys != nullptr) + (indices != nullptr) + (offsets != nullptr) + (weights != nullptr);
  const bool lookup = keys != nullptr && known == 1;
  question.pooled = keys == nullptr && indices != nullptr && offsets != nullptr;
  if (known != request.inputs.size() || (!lookup && !question.pooled))
    refuse(
        "the inputs are to be 'keys', or 'indices', 'offsets' and, if wanted, "
        "'per_sample_weights'");
  if (lookup) {
    question.keys = list_of<std::uint64_t>(*keys, "INT64", max_keys);
  } else {
    question.keys = list_of<std::uint64_t>(*indices, "INT64", max_keys);
    if (request.mode == "mean")
      question.pooling = kernels::Pooling::mean;
    else if (request.mode == "max")
      question.pooling = kernels::Pooling::max;
    else if (request.mode != "sum")
      refuse(fmt::format("mode '{}' is none of sum, mean and max", request.mode));
    if (weights != nullptr) {
      if (request.mode != "sum")
        refuse(fmt::format("per_sample_weights are for mode sum, not {}", request.mode));
      question.weights = list_of<float>(*weights, "FP32", max_keys);
      if (question.weights.size() != question.keys.size())
        refuse(fmt::format("there are {} per_sample_weights for {} indices",
                           question.weights.size(), question.keys.size()));
    }
    if (request.padding_idx) {
      if (*request.padding_idx < 0)
        refuse(fmt::format("padding_idx is {}; it is to be 0 or more", *request.padding_idx));
      question.padding = *request.padding_idx;
    }
    take_bags(request, *offsets, max_keys, question);
  }
  take_outputs(request, question);
  return question;
}

std::vector<TensorInfo> question_inputs() {
  return {{"keys", "INT64", {-1}},
          {"indices", "INT64", {-1}},
          {"offsets", "INT64", {-1}},
          {"per_sample_weights", "FP32", {-1}}};
}

std::vector<TensorInfo> question_outputs(std::uint32_t dim) {
  return {{"rows", "FP32", {-1, dim}}, {"found", "BOOL", {-1}}, {"pooled", "FP32", {-1, dim}}};
}

}  // namespace holdall::serve
