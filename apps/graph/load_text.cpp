#include <fmt/format.h>

#include <algorithm>

#include "apps/graph/dimacs.hpp"
#include "apps/graph/error.hpp"
#include "apps/graph/preamble.hpp"
#include "apps/graph/readers.hpp"
#include "apps/graph/text_edges.hpp"

namespace holdall::graph {

namespace {

// A first line `vertices edges` that counts the lines below it. It cannot sensibly be an edge where
// the second number is also far above every id.
void drop_header(TextEdges& edges, const Preamble& preamble, const File& file,
                 LoadOptions::Header wanted, LoadReport& report) {
  using Header = LoadOptions::Header;
  if (wanted == Header::none || edges.edges() == 0) return;
  const auto [vertices, count] = edges.first();
  const std::uint64_t below = edges.edges() - 1;
  const Vertex least = edges.least_of_rest(), greatest = edges.greatest_of_rest();
  const bool from_1 = below > 0 && least >= 1 && greatest == vertices;
  const bool fits = count == below && below > 0 && (greatest < vertices || from_1);
  if (wanted == Header::present && !fits)
    throw GraphError(file.path(), Line{preamble.line},
                     fmt::format("the header promises {} vertices and {} edges, and {} edges with "
                                 "ids up to {} follow",
                                 vertices, count, below, below > 0 ? greatest : 0),
                     "get the whole file, or mend or remove the header");
  if (!fits || preamble.columns != 2) return;
  if (wanted == Header::automatic && count <= vertices) {
    report.notes.push_back(
        fmt::format("line {} was read as an edge, though '{} {}' could be the numbers of vertices "
                    "and edges",
                    preamble.line, vertices, count));
    return;
  }
  edges.drop_first();
  edges.set_vertices(std::uint64_t{vertices} + (from_1 ? 1 : 0));
}

void compare_counts(const TextEdges& edges, const Preamble& preamble, LoadReport& report) {
  if (!preamble.skipped_header.empty())
    report.notes.push_back(fmt::format("passed over the header '{}'", preamble.skipped_header));
  if (preamble.edges && *preamble.edges != edges.edges())
    report.notes.push_back(fmt::format("a comment promises {} edges, and {} were found",
                                       *preamble.edges, edges.edges()));
  if (preamble.vertices && *preamble.vertices + 1 < edges.vertices())
    report.notes.push_back(fmt::format("a comment promises {} vertices, and ids go up to {}",
                                       *preamble.vertices, edges.vertices() - 1));
}

}  // namespace

namespace {

// `vertices edges` above lines that have a weight too, where the counts fit.
bool header_above_weights(const Preamble& preamble, const TextEdges& below) {
  const auto [vertices, edges] = preamble.first;
  return vertices && edges && *edges == below.edges() && below.vertices() <= *vertices + 1 &&
         *vertices <= most_vertices;
}

}  // namespace

Csr load_text(const File& file, const LoadOptions& options, LoadReport& report) {
  const Bytes memory = options.memory != 0 ? options.memory : available_memory();
  const Preamble preamble = read_preamble(file);
  const bool weighted = !options.unweighted && !preamble.unweighted;
  const auto build = [&](TextEdges& edges) {
    if (edges.edges() == 0)
      throw GraphError(file.path(), {}, "holds no edges; expected two ids a line, such as '0 1'");
    compare_counts(edges, preamble, report);
    report.edges_read = edges.edges();
    Csr csr = build_loaded(edges, options, preamble.undirected);
    file.check_unchanged();
    return csr;
  };
  const TextRules rules{.weights = weighted ? TextRules::Column::any : TextRules::Column::ignored};
  if (weighted && preamble.columns == 2 && preamble.columns_below >= 3 &&
      options.header != LoadOptions::Header::none && preamble.first[0].value_or(0) > 0 &&
      preamble.first[1].value_or(0) > 0) {
    TextEdges edges(file, preamble.below, rules, memory / 4);
    if (header_above_weights(preamble, edges)) {
      edges.set_vertices(std::max<std::uint64_t>(*preamble.first[0], edges.vertices()));
      return build(edges);
    }
  }
  TextEdges edges(file, preamble.begin, preamble.columns >= 3 ? rules : TextRules{}, memory / 4);
  drop_header(edges, preamble, file, options.header, report);
  return build(edges);
}

Csr load_dimacs(const File& file, const LoadOptions& options, LoadReport& report) {
  const Bytes memory = options.memory != 0 ? options.memory : available_memory();
  const DimacsHeader header = read_dimacs_header(file);
  TextEdges edges(
      file, header.end,
      {.base = 1,
       .vertices = header.vertices,
       .weights = options.unweighted ? TextRules::Column::ignored : TextRules::Column::any,
       .arcs = true},
      memory / 4);
  if (edges.edges() != header.arcs)
    throw GraphError(
        file.path(), Line{header.line},
        fmt::format("the header promises {} arcs, and {} follow", header.arcs, edges.edges()),
        "get the whole file");
  edges.set_vertices(header.vertices);
  report.edges_read = edges.edges();
  Csr csr = build_loaded(edges, options, false);
  file.check_unchanged();
  return csr;
}

}  // namespace holdall::graph
