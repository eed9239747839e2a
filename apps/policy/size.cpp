#include "apps/policy/size.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "engine/vmm/bytes.hpp"

namespace holdall::lab {

std::uint64_t Size::capacity(bool sizes, std::uint64_t chunk, std::uint64_t footprint) const {
  switch (unit) {
    case percent:
      return value == 0
                 ? 0
                 : std::max<std::uint64_t>(
                       1, static_cast<std::uint64_t>(value / 100 * static_cast<double>(footprint)));
    case bytes:
      return sizes ? static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value) / chunk;
    default:
      return static_cast<std::uint64_t>(value);
  }
}

Size parse_size(std::string_view text) {
  const char* const end = text.data() + text.size();
  if (text.ends_with('%')) {
    double percent = 0;
    const auto [rest, error] = std::from_chars(text.data(), end - 1, percent);
    if (error == std::errc() && rest == end - 1 && percent >= 0 && percent <= 1e6)
      return {Size::percent, percent};
  } else {
    std::uint64_t count = 0;
    const auto [rest, error] = std::from_chars(text.data(), end, count);
    if (error == std::errc() && rest == end && count < std::uint64_t{1} << 53)
      return {Size::plain, static_cast<double>(count)};
    if (error == std::errc() && rest != end)
      return {Size::bytes, static_cast<double>(parse_bytes(text))};
  }
  throw std::invalid_argument(
      fmt::format("'{}' is no size of a memory: write bytes (1GiB), a share of the footprint "
                  "(10%), or chunks (1000)",
                  text));
}

std::vector<Size> parse_sizes(std::string_view list) {
  std::vector<Size> sizes;
  while (true) {
    const std::size_t comma = list.find(',');
    sizes.push_back(parse_size(list.substr(0, comma)));
    if (comma == list.npos) return sizes;
    list.remove_prefix(comma + 1);
  }
}

std::vector<std::string> split_policies(std::string_view list) {
  std::vector<std::string> policies;
  while (true) {
    const std::size_t comma = list.find(',');
    const std::string_view word = list.substr(0, comma);
    const bool parameter = word.find('=') < word.find(':');
    if (parameter && !policies.empty())
      policies.back().append(1, ',').append(word);
    else
      policies.emplace_back(word);
    if (comma == list.npos) return policies;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace holdall::lab
