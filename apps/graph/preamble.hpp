// What stands above the edges in a text file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/graph/file.hpp"

namespace holdall::graph {

struct Preamble {
  Bytes begin = 0;                               // of the first line that may be an edge
  std::uint64_t line = 1;                        // its number
  std::size_t columns = 0;                       // words on it
  Bytes below = 0;                               // of the line of edges that comes next
  std::size_t columns_below = 0;                 // words on that; 0: there is none near
  std::optional<std::uint64_t> first[2];         // the first two words of the first line
  std::string skipped_header;                    // a line of column names, such as `source,target`
  bool undirected = false;                       // KONECT says `sym`
  bool unweighted = false;                       // KONECT says so: further columns are no weights
  std::optional<std::uint64_t> vertices, edges;  // as a comment has them
};

// Throws GraphError for a KONECT file of two kinds of vertices, whose ids overlap.
Preamble read_preamble(const File& file);

}  // namespace holdall::graph
