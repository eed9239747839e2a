#include "apps/serve/protocol.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

namespace holdall::serve {

namespace {

using nlohmann::json;

[[noreturn]] void refuse(const std::string& reason) { throw RequestError(400, reason); }

const json* member(const json& object, const char* name) {
  const auto at = object.find(name);
  return at == object.end() ? nullptr : &*at;
}

std::string text(const json& object, const char* name, const std::string& of) {
  const json* const at = member(object, name);
  if (at == nullptr) refuse(fmt::format("{} has no '{}'", of, name));
  if (!at->is_string()) refuse(fmt::format("'{}' of {} is no string", name, of));
  const std::string value = at->get<std::string>();
  if (value.size() > 256) refuse(fmt::format("'{}' of {} is longer than 256 bytes", name, of));
  return value;
}

const json& parameters(const json& object, const std::string& of) {
  static const json none = json::object();
  const json* const at = member(object, "parameters");
  if (at == nullptr) return none;
  if (!at->is_object()) refuse(fmt::format("'parameters' of {} is no object", of));
  return *at;
}

bool flag(const json& parameters, const char* name, bool otherwise) {
  const json* const at = member(parameters, name);
  if (at == nullptr) return otherwise;
  if (!at->is_boolean()) refuse(fmt::format("parameter '{}' is neither true nor false", name));
  return at->get<bool>();
}

std::uint64_t whole(const json& value, const std::string& what) {
  if (!value.is_number_unsigned()) refuse(what + " is no whole number from 0 on");
  return value.get<std::uint64_t>();
}

// Before the text is parsed, which takes memory, and stack, with the depth.
void need_shallow(std::string_view text) {
  constexpr int deepest = 12;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > deepest)
        refuse(fmt::format("the JSON is nested deeper than {} levels", deepest));
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
}

json parse_object(std::string_view body) {
  need_shallow(body);
  try {
    json object = json::parse(body);
    if (!object.is_object()) refuse("the request is no JSON object");
    return object;
  } catch (const json::exception& e) {
    refuse(fmt::format("the request is no JSON: {}", std::string(e.what()).substr(0, 200)));
  }
}

void flatten(const json& value, const Tensor& tensor, std::vector<char>& to) {
  if (value.is_array()) {
    for (const json& part : value) flatten(part, tensor, to);
    return;
  }
  const auto append = [&to](const auto number) {
    const std::size_t at = to.size();
    to.resize(at + sizeof number);
    std::memcpy(to.data() + at, &number, sizeof number);
  };
  if (tensor.datatype == "INT64") {
    const bool fits =
        value.is_number_integer() &&
        (!value.is_number_unsigned() ||
         value.get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<std::int64_t>::max()});
    if (!fits) refuse(fmt::format("element {} of '{}' is no INT64", to.size() / 8, tensor.name));
    append(value.get<std::int64_t>());
  } else if (tensor.datatype == "FP32") {
    if (!value.is_number())
      refuse(fmt::format("element {} of '{}' is no number", to.size() / 4, tensor.name));
    const double number = value.get<double>();
    if (std::abs(number) > std::numeric_limits<float>::max())
      refuse(fmt::format("element {} of '{}' is beyond FP32", to.size() / 4, tensor.name));
    append(static_cast<float>(number));
  } else {
    refuse(fmt::format("input '{}' is JSON of datatype {}; INT64 and FP32 are read", tensor.name,
                       tensor.datatype));
  }
}

Tensor parse_input(const json& input, std::string_view& binary, InferRequest& request) {
  if (!input.is_object()) refuse("an input is no object");
  Tensor tensor;
  tensor.name = text(input, "name", "an input");
  const std::string of = fmt::format("input '{}'", tensor.name);
  tensor.datatype = text(input, "datatype", of);

  // 1. the shape, and the bytes that it needs
  const json* const shape = member(input, "shape");
  if (shape == nullptr || !shape->is_array()) refuse(of + " has no 'shape', a list of lengths");
  for (const json& length : *shape)
    tensor.shape.push_back(whole(length, "a length in the shape of " + of));
  const std::uint64_t bytes = tensor.bytes_needed();

  // 2. the elements: binary, behind those of the inputs before, or here
  const json* const size = member(parameters(input, of), "binary_data_size");
  const json* const data = member(input, "data");
  if (size != nullptr && data != nullptr) refuse(of + " has both 'data' and 'binary_data_size'");
  if (size != nullptr) {
    const std::uint64_t given = whole(*size, "'binary_data_size' of " + of);
    if (given != bytes)
      refuse(fmt::format("{} has 'binary_data_size' {}, but its shape needs {} bytes", of, given,
                         bytes));
    if (given > binary.size())
      refuse(fmt::format("{} ends behind the body: {} bytes of it are missing", of,
                         given - binary.size()));
    tensor.bytes = binary.substr(0, given);
    binary.remove_prefix(given);
    return tensor;
  }
  if (data == nullptr || !data->is_array())
    refuse(of + " has neither a list 'data' nor a parameter 'binary_data_size'");
  std::vector<char>& storage = request.storage.emplace_back();
  flatten(*data, tensor, storage);
  if (storage.size() != bytes) {
    const std::uint64_t each = tensor.datatype == "FP32" ? 4 : 8;
    refuse(fmt::format("{} has {} elements, but its shape needs {}", of, storage.size() / each,
                       bytes / each));
  }
  tensor.bytes = {storage.data(), storage.size()};
  return tensor;
}

void print_elements(const OutputTensor& tensor, std::string& to) {
  const bool numbers = tensor.datatype == "FP32";
  const std::size_t each = numbers ? 4 : 1;
  for (std::size_t at = 0; at < tensor.bytes.size(); at += each) {
    if (at > 0) to += ',';
    if (!numbers) {
      to += tensor.bytes[at] != 0 ? "true" : "false";
      continue;
    }
    float value = 0;
    std::memcpy(&value, tensor.bytes.data() + at, each);
    if (std::isfinite(value))
      fmt::format_to(std::back_inserter(to), "{}", value);
    else
      to += "null";
  }
}

}  // namespace

InferRequest parse_infer(std::string_view body, std::optional<std::string_view> json_length) {
  // 1. where the JSON ends
  if (body.empty()) refuse("the request has no body; it is to be JSON with a list 'inputs'");
  std::uint64_t length = body.size();
  if (json_length) {
    const char* const end = json_length->data() + json_length->size();
    const auto [rest, error] = std::from_chars(json_length->data(), end, length);
    if (error != std::errc() || rest != end)
      refuse("the header Inference-Header-Content-Length is no whole number");
    if (length > body.size())
      refuse(
          fmt::format("the header Inference-Header-Content-Length is {}, but the body has {} bytes",
                      length, body.size()));
  }
  if (length > max_json)
    throw RequestError(413, fmt::format("{} bytes of JSON are more than the {} that are read: send "
                                        "the tensors as binary data",
                                        length, max_json));
  std::string_view binary = body.substr(length);
  const json object = parse_object(body.substr(0, length));

  // 2. the request's own
  InferRequest request;
  if (member(object, "id") != nullptr) request.id = text(object, "id", "the request");
  const json& own = parameters(object, "the request");
  request.binary_outputs = flag(own, "binary_data_output", false);
  request.include_last_offset = flag(own, "include_last_offset", false);
  if (member(own, "mode") != nullptr) request.mode = text(own, "mode", "the parameters");
  if (const json* const padding = member(own, "padding_idx")) {
    if (!padding->is_number_integer()) refuse("parameter 'padding_idx' is no whole number");
    request.padding_idx = padding->get<std::int64_t>();
  }

  // 3. tensors
  const json* const inputs = member(object, "inputs");
  if (inputs == nullptr || !inputs->is_array()) refuse("the request has no list 'inputs'");
  if (inputs->empty() || inputs->size() > max_tensors)
    refuse(fmt::format("the request has {} inputs; it is to have 1 to {}", inputs->size(),
                       max_tensors));
  request.storage.reserve(inputs->size());
  for (const json& input : *inputs) request.inputs.push_back(parse_input(input, binary, request));
  if (!binary.empty())
    refuse(fmt::format("{} bytes behind the JSON belong to no input", binary.size()));
  const json* const outputs = member(object, "outputs");
  if (outputs == nullptr) return request;
  if (!outputs->is_array() || outputs->size() > max_tensors)
    refuse(fmt::format("'outputs' is no list of up to {}", max_tensors));
  for (const json& output : *outputs) {
    if (!output.is_object()) refuse("an output is no object");
    const std::string name = text(output, "name", "an output");
    const bool as_binary =
        flag(parameters(output, "an output"), "binary_data", request.binary_outputs);
    request.outputs.push_back({name, as_binary});
  }
  return request;
}

PrintedAnswer print_infer(InferAnswer answer) {
  PrintedAnswer printed;
  std::string& to = printed.body;
  std::size_t room = 512;
  for (const OutputTensor& tensor : answer.outputs)
    room += 128 + (tensor.binary ? 0 : tensor.bytes.size() * 3);
  to.reserve(room);
  to += fmt::format(R"({{"model_name":{},"model_version":"{}",)", json(answer.model).dump(),
                    answer.version);
  if (!answer.id.empty()) to += fmt::format(R"("id":{},)", json(answer.id).dump());
  to += R"("outputs":[)";
  bool binary = false;
  for (const OutputTensor& tensor : answer.outputs) {
    if (&tensor != answer.outputs.data()) to += ',';
    std::string shape;
    for (const std::uint64_t length : tensor.shape)
      shape.append(shape.empty() ? "" : ",").append(std::to_string(length));
    to += fmt::format(R"({{"name":"{}","datatype":"{}","shape":[{}],)", tensor.name,
                      tensor.datatype, shape);
    if (tensor.binary) {
      to += fmt::format(R"("parameters":{{"binary_data_size":{}}}}})", tensor.bytes.size());
      binary = true;
    } else {
      to += R"("data":[)";
      print_elements(tensor, to);
      to += "]}";
    }
  }
  to += "]}";
  if (!binary) return printed;
  printed.json_length = to.size();
  for (OutputTensor& tensor : answer.outputs)
    if (tensor.binary) printed.tensors.push_back(std::move(tensor.bytes));
  return printed;
}

std::string print_error(std::string_view reason) {
  return json{{"error", reason}}.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace holdall::serve
