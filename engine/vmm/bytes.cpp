#include "engine/vmm/bytes.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <stdexcept>

namespace holdall {

namespace {

struct Unit {
  std::string_view name;
  double bytes;
};
constexpr std::array units = {
    Unit{"", 1},         Unit{"B", 1},        Unit{"KB", 1e3},     Unit{"MB", 1e6},
    Unit{"GB", 1e9},     Unit{"TB", 1e12},    Unit{"KiB", 0x1p10}, Unit{"MiB", 0x1p20},
    Unit{"GiB", 0x1p30}, Unit{"TiB", 0x1p40}, Unit{"PiB", 0x1p50}, Unit{"EiB", 0x1p60},
    Unit{"PB", 1e15},    Unit{"EB", 1e18},    Unit{"K", 0x1p10},   Unit{"M", 0x1p20},
    Unit{"G", 0x1p30},   Unit{"T", 0x1p40},
};

bool same_letters(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::tolower(static_cast<unsigned char>(a[i])) !=
        std::tolower(static_cast<unsigned char>(b[i])))
      return false;
  return true;
}

}  // namespace

Bytes parse_bytes(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  if ((error == std::errc() || error == std::errc::result_out_of_range) && value >= 0)
    for (const Unit& u : units) {
      if (!same_letters(unit, u.name)) continue;
      if (error == std::errc() && value * u.bytes < 0x1p63)
        return static_cast<Bytes>(std::llround(value * u.bytes));
      throw std::invalid_argument(
          fmt::format("'{}' is out of range: the most is just under 8 EiB (2^63 bytes)", text));
    }
  throw std::invalid_argument(fmt::format(
      "'{}' is no size: write a number and a unit, such as 8MiB, 1.5GiB or 4096", text));
}

std::string to_string(Bytes bytes) {
  constexpr std::array names = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes);
  std::size_t i = 0;
  while (value >= 1024 && i + 1 < names.size()) value /= 1024, ++i;
  if (value == std::floor(value)) return fmt::format("{:.0f} {}", value, names[i]);
  return fmt::format("{:.1f} {}", value, names[i]);
}

}  // namespace holdall
