// What a server answers to a call over HTTP, apart from any socket.
//
//   Answer answer = answer_call(service, {.method = "POST", .path = "/v2/models/items/infer",
//   ...});
//
// Paths are those of the inference protocol (KServe v2) and /metrics. Probes of health need no
// token, all else does if there is one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/serve/service.hpp"

namespace holdall::serve {

struct Call {
  std::string_view method;
  std::string_view path;
  std::string_view body = {};
  std::optional<std::string_view> json_length = {};    // Inference-Header-Content-Length
  std::optional<std::string_view> authorization = {};  // "Bearer ..."
};

struct Answer {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::string> tail = {};  // of the body, piece by piece
  std::optional<std::uint64_t> json_length = {};
  std::string_view allow = {};  // of a 405: the methods that the path has

  std::size_t bytes() const;  // of the body, its tail included
};

// Never throws but bad_alloc. Thread-safe.
Answer answer_call(Service& service, const Call& call);

// Shows `put` (name, value) each header that goes with an answer, but for those of its body.
template <class Put>
void put_headers(const Answer& answer, const Put& put) {
  if (answer.json_length)
    put("Inference-Header-Content-Length", std::to_string(*answer.json_length));
  if (answer.status == 503) put("Retry-After", std::string("1"));
  if (answer.status == 401) put("WWW-Authenticate", std::string("Bearer"));
  if (!answer.allow.empty()) put("Allow", std::string(answer.allow));
}

}  // namespace holdall::serve
