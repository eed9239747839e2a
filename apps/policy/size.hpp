// Lists of sizes of memory on a command line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdall::lab {

// "1GiB": bytes; "10%": of the footprint; "1000": chunks, or bytes where sizes are honoured.
struct Size {
  enum Unit { plain, bytes, percent } unit = plain;
  double value = 0;

  // The capacity it means. `footprint` in its unit: chunks, or bytes where `sizes` are honoured;
  // `chunk` in bytes. A percentage above 0 is at least 1.
  std::uint64_t capacity(bool sizes, std::uint64_t chunk, std::uint64_t footprint) const;
};

// Throws std::invalid_argument naming the text and the forms.
Size parse_size(std::string_view text);
std::vector<Size> parse_sizes(std::string_view list);  // by commas

}  // namespace holdall::lab
