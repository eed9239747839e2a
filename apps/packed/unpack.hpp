// Unpacking, as far as the libraries were there when this was built.
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace holdall::packed {

// Where bytes come from: a file, or another source unpacked.
class Source {
 public:
  virtual ~Source() = default;
  // Fills `to` as far as it can at once; 0 at the end.
  virtual std::size_t read(char* to, std::size_t size) = 0;
};

// Packed data that is damaged or cut short, or of a kind that this build cannot unpack.
class UnpackError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

constexpr std::size_t mark_bytes = 6;

// Whether what begins so is zstd, gzip or xz. `begin`: mark_bytes, or all that there is.
bool is_packed(std::string_view begin);

// `packed` unpacked if it begins as zstd, gzip or xz does; else `packed` itself. `begin` is what it
// begins with, taken from it already. `name` is for messages. Throws UnpackError where the library
// is missing; so does reading where the data is damaged.
std::unique_ptr<Source> unpacked(std::unique_ptr<Source> packed, std::string_view begin,
                                 const std::string& name);

}  // namespace holdall::packed
