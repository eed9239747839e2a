#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <initializer_list>
#include <sstream>
#include <string>

#include "apps/graph/error.hpp"
#include "apps/graph/readers.hpp"
#include "apps/graph/text_edges.hpp"

namespace holdall::graph {

namespace {

struct Header {
  bool symmetric = false;
  TextRules::Column weights = TextRules::Column::ignored;
  std::string unread;  // why values are no weights, where they are none
  std::uint64_t vertices = 0;
  std::uint64_t entries = 0;
  std::uint64_t size_line = 0;
  Bytes end = 0;  // where the entries begin
};

void check_word(const File& file, std::string_view what, const std::string& word,
                std::initializer_list<std::string_view> known) {
  if (std::ranges::find(known, word) != known.end()) return;
  std::string list;
  for (const std::string_view good : known) list.append(list.empty() ? "" : ", ").append(good);
  throw GraphError(file.path(), Line{1},
                   fmt::format("the {} '{}' is not read; expected {}", what, word, list));
}

std::string lower(std::string word) {
  std::ranges::transform(word, word.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return word;
}

Header read_header(const File& file) {
  std::string text(std::min(file.bytes(), Bytes{1} << 20), '\0');
  text.resize(file.read_some(0, text.data(), text.size()));
  Header header;

  // 1. %%MatrixMarket object format field symmetry
  std::size_t at = std::min(text.find('\n'), text.size());
  std::istringstream banner(lower(text.substr(0, at)));
  std::string word, object, format, field, symmetry;
  banner >> word >> object >> format >> field >> symmetry;
  check_word(file, "object", object, {"matrix"});
  check_word(file, "format", format, {"coordinate"});
  check_word(file, "field", field, {"pattern", "real", "integer", "complex", "double"});
  check_word(file, "symmetry", symmetry, {"general", "symmetric", "skew-symmetric", "hermitian"});
  header.symmetric = symmetry != "general";
  if (field == "integer") header.weights = TextRules::Column::whole;
  if (field == "real" || field == "double") header.weights = TextRules::Column::real;
  if (field == "complex") header.unread = "complex values are no weights";
  if (symmetry == "skew-symmetric" || symmetry == "hermitian") {
    header.unread =
        fmt::format("values of a {} matrix differ by direction and are no weights", symmetry);
    header.weights = TextRules::Column::ignored;
  }

  // 2. comments and empty lines, then rows, columns, entries
  std::uint64_t line = 1;
  while (at < text.size()) {
    const std::size_t begin = at + 1;
    at = std::min(text.find('\n', begin), text.size());
    ++line;
    const std::string content = begin < text.size() ? text.substr(begin, at - begin) : "";
    const std::size_t first = content.find_first_not_of(" \t\r");
    if (first == content.npos || content[first] == '%') continue;
    std::istringstream sizes(content);
    std::int64_t rows = 0, columns = 0, entries = 0;
    std::string more;
    if (!(sizes >> rows >> columns >> entries) || sizes >> more || rows < 0 || columns < 0 ||
        entries < 0)
      throw GraphError(file.path(), Line{line},
                       "expected the numbers of rows, columns and entries, such as '5 5 8'");
    if (rows != columns)
      throw GraphError(
          file.path(), Line{line},
          fmt::format("a matrix of {} rows and {} columns; a graph's is square", rows, columns));
    if (rows == 0) throw GraphError(file.path(), Line{line}, "a graph of no vertices");
    header.vertices = static_cast<std::uint64_t>(rows);
    check_vertex_count(file.path(), Line{line}, header.vertices);
    header.entries = static_cast<std::uint64_t>(entries);
    header.size_line = line;
    header.end = std::min<Bytes>(at + 1, text.size());
    return header;
  }
  throw GraphError(file.path(), Line{line},
                   "the file ends before the numbers of rows, columns and entries");
}

}  // namespace

Csr load_matrix_market(const File& file, const LoadOptions& options, LoadReport& report) {
  const Bytes memory = options.memory != 0 ? options.memory : available_memory();
  const Header header = read_header(file);
  if (!options.unweighted && !header.unread.empty()) report.notes.push_back(header.unread);
  TextEdges edges(file, header.end,
                  {.base = 1,
                   .vertices = header.vertices,
                   .weights = options.unweighted ? TextRules::Column::ignored : header.weights},
                  memory / 4);
  if (edges.edges() != header.entries)
    throw GraphError(
        file.path(), Line{header.size_line},
        fmt::format("the header promises {} entries, and {} follow", header.entries, edges.edges()),
        "get the whole file");
  edges.set_vertices(header.vertices);
  report.edges_read = edges.edges();
  Csr csr = build_loaded(edges, options, header.symmetric);
  file.check_unchanged();
  return csr;
}

}  // namespace holdall::graph
