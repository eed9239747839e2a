// A request with a plain head, read where it lies: what clients send again and again. The library
// reads a head byte by byte and puts every header into a map, which takes a third of the time of a
// small answer; so it is left what is in any way unusual: other methods and headers, what is long,
// and all that is to be refused.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace holdall::serve {

struct PlainRequest {
  std::string_view path = {};
  std::string_view body = {};                          // where all of it has arrived
  std::optional<std::string_view> json_length = {};    // Inference-Header-Content-Length
  std::optional<std::string_view> authorization = {};  // Authorization
  std::size_t bytes = 0;                               // of the whole request
};

// Nothing where `arrived` does not begin with such a head.
std::optional<PlainRequest> plain_request(std::string_view arrived);

}  // namespace holdall::serve
