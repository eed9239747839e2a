// Lists on a command line: sizes of memory and policies.
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

// "lru,lfu:halflife=8,clock": a comma begins another policy, unless a parameter follows it, which
// is KEY= with no colon before: "a:x=1,y=2,b:z=3" are a:x=1,y=2 and b:z=3.
std::vector<std::string> split_policies(std::string_view list);

}  // namespace holdall::lab
