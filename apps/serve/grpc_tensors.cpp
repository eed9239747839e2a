#include "apps/serve/grpc_tensors.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>

namespace holdall::serve {

static_assert(std::endian::native == std::endian::little, "raw tensors are sent as they lie");

namespace {

using inference::InferParameter;
using Contents = inference::InferTensorContents;
using Input = inference::ModelInferRequest::InferInputTensor;
using Parameters = google::protobuf::Map<std::string, InferParameter>;

[[noreturn]] void refuse(const std::string& reason) { throw RequestError(400, reason); }

const InferParameter* parameter(const Parameters& all, const char* name) {
  const auto at = all.find(name);
  return at == all.end() ? nullptr : &at->second;
}

void take_parameters(const Parameters& given, InferRequest& request) {
  if (const InferParameter* const mode = parameter(given, "mode")) {
    if (!mode->has_string_param()) refuse("parameter 'mode' is no string");
    request.mode = mode->string_param().substr(0, 256);
  }
  if (const InferParameter* const padding = parameter(given, "padding_idx")) {
    if (!padding->has_int64_param()) refuse("parameter 'padding_idx' is no int64");
    request.padding_idx = padding->int64_param();
  }
  if (const InferParameter* const last = parameter(given, "include_last_offset")) {
    if (!last->has_bool_param()) refuse("parameter 'include_last_offset' is no bool");
    request.include_last_offset = last->bool_param();
  }
}

template <class T>
std::string_view view_of(const google::protobuf::RepeatedField<T>& list) {
  return {reinterpret_cast<const char*>(list.data()),
          static_cast<std::size_t>(list.size()) * sizeof(T)};
}

std::string_view typed_elements(const Input& input) {
  const Contents& contents = input.contents();
  const int all = contents.bool_contents_size() + contents.int_contents_size() +
                  contents.int64_contents_size() + contents.uint_contents_size() +
                  contents.uint64_contents_size() + contents.fp32_contents_size() +
                  contents.fp64_contents_size() + contents.bytes_contents_size();
  const auto right = [&](int size, const char* list) {
    if (size != all)
      refuse(fmt::format("input '{}' is {}, whose elements go into {} alone", input.name(),
                         input.datatype(), list));
  };
  if (input.datatype() == "INT64") {
    right(contents.int64_contents_size(), "int64_contents");
    return view_of(contents.int64_contents());
  }
  if (input.datatype() == "FP32") {
    right(contents.fp32_contents_size(), "fp32_contents");
    return view_of(contents.fp32_contents());
  }
  refuse(fmt::format("input '{}' has contents of datatype {}; INT64 and FP32 are read",
                     input.name(), input.datatype()));
}

}  // namespace

InferRequest read_infer(const inference::ModelInferRequest& given) {
  // 1. the request's own
  InferRequest request;
  if (given.id().size() > 256) refuse("'id' of the request is longer than 256 bytes");
  request.id = given.id();
  take_parameters(given.parameters(), request);

  // 2. tensors
  const auto inputs = static_cast<std::size_t>(given.inputs_size());
  if (inputs == 0 || inputs > max_tensors)
    refuse(fmt::format("the request has {} inputs; it is to have 1 to {}", inputs, max_tensors));
  const bool raw = given.raw_input_contents_size() > 0;
  if (raw && given.raw_input_contents_size() != given.inputs_size())
    refuse(fmt::format("there are {} raw_input_contents for {} inputs: give each its own, or none",
                       given.raw_input_contents_size(), inputs));
  for (int i = 0; i < given.inputs_size(); ++i) {
    const Input& input = given.inputs(i);
    if (input.name().size() > 256) refuse("'name' of an input is longer than 256 bytes");
    Tensor tensor{input.name(), input.datatype().substr(0, 256), {}, {}};
    for (const std::int64_t length : input.shape()) {
      if (length < 0)
        refuse(fmt::format("a length in the shape of input '{}' is {}; it is to be 0 or more",
                           tensor.name, length));
      tensor.shape.push_back(static_cast<std::uint64_t>(length));
    }
    const std::uint64_t bytes = tensor.bytes_needed();
    if (raw && input.has_contents())
      refuse(fmt::format("input '{}' has contents beside raw_input_contents", tensor.name));
    tensor.bytes = raw ? std::string_view(given.raw_input_contents(i)) : typed_elements(input);
    if (tensor.bytes.size() != bytes)
      refuse(fmt::format("input '{}' has {} bytes, but its shape needs {}", tensor.name,
                         tensor.bytes.size(), bytes));
    request.inputs.push_back(std::move(tensor));
  }
  if (static_cast<std::size_t>(given.outputs_size()) > max_tensors)
    refuse(fmt::format("the request asks for more than {} outputs", max_tensors));
  for (const auto& output : given.outputs())
    request.outputs.push_back({output.name().substr(0, 256), true});
  return request;
}

void write_infer(InferAnswer answer, bool raw, inference::ModelInferResponse& to) {
  to.set_model_name(answer.model);
  to.set_model_version(answer.version);
  to.set_id(answer.id);
  for (OutputTensor& tensor : answer.outputs) {
    auto& output = *to.add_outputs();
    output.set_name(tensor.name);
    output.set_datatype(tensor.datatype);
    for (const std::uint64_t length : tensor.shape)
      output.add_shape(static_cast<std::int64_t>(length));
    if (raw) {
      to.add_raw_output_contents(std::move(tensor.bytes));
    } else if (tensor.datatype == "FP32") {
      auto& list = *output.mutable_contents()->mutable_fp32_contents();
      list.Resize(static_cast<int>(tensor.bytes.size() / sizeof(float)), 0);
      std::memcpy(list.mutable_data(), tensor.bytes.data(), tensor.bytes.size());
    } else {
      for (const char found : tensor.bytes)
        output.mutable_contents()->add_bool_contents(found != 0);
    }
  }
}

}  // namespace holdall::serve
