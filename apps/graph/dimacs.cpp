#include "apps/graph/dimacs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "apps/graph/error.hpp"

namespace holdall::graph {

namespace {

// Calls `visit(line, number, end)` for lines from the start of `text` until it says to stop.
template <typename Visit>
void each_line(std::string_view text, Visit visit) {
  std::uint64_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of("\n\r", at), text.size());
    const std::size_t next =
        std::min(end + (text.substr(end).starts_with("\r\n") ? 2 : 1), text.size());
    if (visit(text.substr(at, end - at), ++number, next)) return;
    at = next;
  }
}

bool is_comment(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  return first == line.npos ||
         (line[first] == 'c' &&
          (first + 1 == line.size() || line.find_first_of(" \t", first) == first + 1));
}

}  // namespace

bool is_dimacs(std::string_view head) {
  bool found = false;
  each_line(head, [&](std::string_view line, std::uint64_t, std::size_t) {
    if (is_comment(line)) return false;
    std::istringstream words{std::string(line)};
    std::string p, kind;
    std::int64_t number = 0;
    words >> p >> kind;
    found = p == "p" && !kind.empty() && static_cast<bool>(words >> number);
    // A `p` line that is not whole is still one.
    found = found || (p == "p" && (kind == "sp" || kind == "edge" || kind == "col"));
    return true;
  });
  return found;
}

DimacsHeader read_dimacs_header(const File& file) {
  std::string text(std::min(file.bytes(), Bytes{1} << 20), '\0');
  text.resize(file.read_some(0, text.data(), text.size()));
  DimacsHeader header;
  each_line(text, [&](std::string_view line, std::uint64_t number, std::size_t next) {
    if (is_comment(line)) return false;
    std::istringstream words{std::string(line)};
    std::string p, kind, more;
    std::int64_t vertices = 0, arcs = 0;
    words >> p >> kind;
    if (kind != "sp")
      throw GraphError(file.path(), Line{number},
                       fmt::format("a DIMACS file of kind '{}' is not read; expected 'p sp'", kind),
                       "write it as an edge list");
    if (!(words >> vertices >> arcs) || words >> more || vertices < 0 || arcs < 0)
      throw GraphError(file.path(), Line{number},
                       "expected the numbers of vertices and arcs, such as 'p sp 5 8'");
    if (vertices == 0) throw GraphError(file.path(), Line{number}, "a graph of no vertices");
    header = {static_cast<std::uint64_t>(vertices), static_cast<std::uint64_t>(arcs), number, next};
    check_vertex_count(file.path(), Line{number}, header.vertices);
    return true;
  });
  if (header.line == 0)
    throw GraphError(file.path(), {}, "the line 'p sp VERTICES ARCS' is missing at the start");
  return header;
}

}  // namespace holdall::graph
