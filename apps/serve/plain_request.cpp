#include "apps/serve/plain_request.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace holdall::serve {

namespace {

bool same(std::string_view name, std::string_view lower) {
  return std::ranges::equal(name, lower, [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  });
}

bool plain_path(std::string_view path) {
  return path.starts_with('/') && std::ranges::all_of(path, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  std::string_view("/-._~").find(c) != std::string_view::npos;
         });
}

bool printable(std::string_view value) {
  return std::ranges::all_of(value, [](char c) { return c >= ' ' && c <= '~'; });
}

// Headers that change nothing here.
bool harmless(std::string_view name, std::string_view value) {
  if (same(name, "content-type")) return value.starts_with("application/");
  if (same(name, "connection")) return same(value, "keep-alive");
  return same(name, "host") || same(name, "user-agent") || same(name, "accept") ||
         same(name, "accept-encoding");
}

}  // namespace

std::optional<PlainRequest> plain_request(std::string_view arrived) {
  constexpr std::string_view method = "POST ", version = " HTTP/1.1", line_end = "\r\n";
  // 1. the first line
  if (!arrived.starts_with(method)) return {};
  const std::size_t end = arrived.find("\r\n\r\n");
  if (end == std::string_view::npos) return {};
  std::string_view head = arrived.substr(0, end + line_end.size());
  const auto next_line = [&] {
    const std::size_t stop = head.find(line_end);
    const std::string_view line = head.substr(0, stop);
    head.remove_prefix(stop + line_end.size());
    return line;
  };
  PlainRequest request;
  request.path = next_line().substr(method.size());
  if (!request.path.ends_with(version)) return {};
  request.path.remove_suffix(version.size());
  if (!plain_path(request.path)) return {};

  // 2. the headers
  std::optional<std::string_view> length;
  while (!head.empty()) {
    const std::string_view line = next_line();
    const std::size_t colon = line.find(": ");
    if (colon == std::string_view::npos) return {};
    const std::string_view name = line.substr(0, colon), value = line.substr(colon + 2);
    if (!printable(value)) return {};
    std::optional<std::string_view>* const wanted =
        same(name, "content-length")                    ? &length
        : same(name, "inference-header-content-length") ? &request.json_length
        : same(name, "authorization")                   ? &request.authorization
                                                        : nullptr;
    if (wanted == nullptr ? !harmless(name, value) : wanted->has_value()) return {};
    if (wanted != nullptr) *wanted = value;
  }

  // 3. the body
  std::uint64_t bytes = 0;
  if (!length) return {};
  const auto [rest, error] =
      std::from_chars(length->data(), length->data() + length->size(), bytes);
  const std::size_t begin = end + 2 * line_end.size();
  if (error != std::errc() || rest != length->data() + length->size() ||
      bytes > std::size_t{1} << 40)
    return {};
  request.bytes = begin + bytes;
  if (request.bytes <= arrived.size()) request.body = arrived.substr(begin, bytes);
  return request;
}

}  // namespace holdall::serve
