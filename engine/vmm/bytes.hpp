// Sizes in bytes, written as people say them: 8_MiB, "8MiB".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace holdall {

using Bytes = std::uint64_t;

inline namespace literals {
constexpr Bytes operator""_KiB(unsigned long long n) { return n << 10; }
constexpr Bytes operator""_MiB(unsigned long long n) { return n << 20; }
constexpr Bytes operator""_GiB(unsigned long long n) { return n << 30; }
constexpr Bytes operator""_TiB(unsigned long long n) { return n << 40; }
}  // namespace literals

// "8MiB", "1.5GiB", "4096", "2GB" (GB = 10^9, GiB = 2^30). Throws std::invalid_argument naming the
// text and the forms.
Bytes parse_bytes(std::string_view text);

// The shortest exact-to-a-tenth form with a binary unit: "8 MiB", "1.5 GiB", "512 B".
std::string to_string(Bytes bytes);

constexpr Bytes round_up(Bytes n, Bytes unit) { return (n + unit - 1) / unit * unit; }

}  // namespace holdall
