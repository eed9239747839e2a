#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include "apps/policy/formats.hpp"

namespace holdall::lab {

std::optional<std::uint64_t> whole_number(std::string_view word) {
  std::uint64_t n = 0;
  const bool hexadecimal = word.starts_with("0x") || word.starts_with("0X");
  if (hexadecimal) word.remove_prefix(2);
  const char* const end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(word.data(), end, n, hexadecimal ? 16 : 10);
  if (error != std::errc() || rest != end) return std::nullopt;
  return n;
}

std::uint64_t nanoseconds(double seconds) {
  return seconds >= 0 && seconds < 1.8e10 ? static_cast<std::uint64_t>(seconds * 1e9) : 0;
}

std::uint64_t hash_of(std::string_view word) {
  std::uint64_t hash = 0x2545f4914f6cdd1d + word.size();
  for (const char c : word) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  }
  return hash;
}

std::optional<std::uint8_t> kind_of(std::string_view word) {
  std::string lower(word);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  if (lower.starts_with("0x")) lower.erase(0, 2);
  // SCSI: 08, 28, 88, a8 read, 0a, 2a, 8a, aa write; CacheLib's blocks: getChunkData...,
  // putChunk...
  static constexpr std::array<std::pair<std::string_view, std::uint8_t>, 41> words{{
      {"r", trace_read},
      {"read", trace_read},
      {"get", trace_read},
      {"gets", trace_read},
      {"load", trace_read},
      {"l", trace_read},
      {"rs", trace_read},
      {"08", trace_read},
      {"28", trace_read},
      {"88", trace_read},
      {"a8", trace_read},
      {"w", trace_overwrite},
      {"write", trace_overwrite},
      {"set", trace_overwrite},
      {"put", trace_overwrite},
      {"add", trace_overwrite},
      {"replace", trace_overwrite},
      {"store", trace_overwrite},
      {"s", trace_overwrite},
      {"ws", trace_overwrite},
      {"0a", trace_overwrite},
      {"2a", trace_overwrite},
      {"8a", trace_overwrite},
      {"aa", trace_overwrite},
      {"get_lease", trace_read},
      {"set_lease", trace_overwrite},
      {"cas", trace_write},
      {"append", trace_write},
      {"prepend", trace_write},
      {"incr", trace_write},
      {"decr", trace_write},
      {"update", trace_write},
      {"both", trace_write},
      {"overwrite", trace_overwrite},
      {"in_place", trace_in_place},
      {"prefetch", trace_prefetch},
      {"hint", trace_hint},
      {"delete", trace_remove},
      {"remove", trace_remove},
      {"del", trace_remove},
      {"d", trace_remove},
  }};
  for (const auto& [name, kind] : words)
    if (lower == name) return kind;
  if (lower.starts_with("get")) return trace_read;
  if (lower.starts_with("put")) return trace_overwrite;
  return std::nullopt;
}

}  // namespace holdall::lab
