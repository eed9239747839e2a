// Lines of text to edges.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apps/graph/edges.hpp"

namespace holdall::graph {

struct TextRules {
  std::uint64_t base = 0;                  // the id of the first vertex in the text
  std::uint64_t vertices = most_vertices;  // ids are below base + vertices
};

// What is wrong at byte `at` of the text that was given.
struct TextFault {
  std::size_t at = 0;
  std::string problem;
};

// Replaces `edges` by those of `lines`: two ids a line, apart by blanks, tabs, commas or
// semicolons; further columns must look like numbers and are passed over; empty lines and what
// follows # or % are too. The text ends with a line end; \n, \r\n and \r all are.
// Throws TextFault.
void parse_edges(std::string_view lines, const TextRules& rules, std::vector<Edge>& edges);

// The number of line ends in `text`, for messages.
std::uint64_t count_lines(std::string_view text);

}  // namespace holdall::graph
