// Requests of tensors, put together and taken apart as a client does.
#pragma once

#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace holdall::serve {

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}
inline std::vector<float> floats_of(std::string_view bytes) {
  std::vector<float> values(bytes.size() / 4);
  std::memcpy(values.data(), bytes.data(), values.size() * 4);
  return values;
}

inline nlohmann::json json_keys(const std::vector<std::int64_t>& keys) {
  return {{"inputs",
           {{{"name", "keys"}, {"datatype", "INT64"}, {"shape", {keys.size()}}, {"data", keys}}}}};
}

// A body whose tensors are binary, and the length of its JSON.
struct Binary {
  std::string body;
  std::size_t json_length = 0;
};
inline Binary binary_keys(const std::vector<std::int64_t>& keys, bool found = false) {
  nlohmann::json request = {{"inputs",
                             {{{"name", "keys"},
                               {"datatype", "INT64"},
                               {"shape", {keys.size()}},
                               {"parameters", {{"binary_data_size", keys.size() * 8}}}}}},
                            {"parameters", {{"binary_data_output", true}}}};
  if (found) request["outputs"] = {{{"name", "rows"}}, {{"name", "found"}}};
  const std::string text = request.dump();
  return {text + bytes_of(keys), text.size()};
}

}  // namespace holdall::serve
