// The first lines of a shortest-path file of the 9th DIMACS challenge: comments `c ...`, then
// `p sp VERTICES ARCS`; arcs `a FROM TO WEIGHT` follow, ids from 1.
#pragma once

#include <cstdint>
#include <string_view>

#include "apps/graph/file.hpp"

namespace holdall::graph {

struct DimacsHeader {
  std::uint64_t vertices = 0;
  std::uint64_t arcs = 0;
  std::uint64_t line = 0;
  Bytes end = 0;  // where the arcs begin
};

// Whether a text that begins so is of any DIMACS kind.
bool is_dimacs(std::string_view head);

// Throws GraphError for other kinds, and for counts that are none.
DimacsHeader read_dimacs_header(const File& file);

}  // namespace holdall::graph
