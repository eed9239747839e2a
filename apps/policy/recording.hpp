// What a recording of the engine says of itself, before its records (docs/trace-format.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/policy/input.hpp"

namespace holdall::lab {

struct Recording {
  std::string policy;                  // as it was asked for
  std::vector<std::uint64_t> budgets;  // bytes, a device each, when it began
};

// Of the input's beginning, which is passed over; none, and nothing passed over, if it is no
// recording. Throws LabError if it is cut short.
std::optional<Recording> read_header(Input& input);

// The same of a file. Throws LabError if it cannot be read.
std::optional<Recording> recording_of(const std::string& path);

}  // namespace holdall::lab
