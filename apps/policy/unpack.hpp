// Unpacking, as far as the libraries were there when this was built.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "apps/policy/input.hpp"

namespace holdall::lab {

// `packed` unpacked if it begins as zstd, gzip or xz does; else `packed` itself. `begin` is what it
// begins with, taken from it already. `name` is for messages. Throws LabError where the library is
// missing.
std::unique_ptr<Source> unpacked(std::unique_ptr<Source> packed, std::string_view begin,
                                 const std::string& name);

}  // namespace holdall::lab
