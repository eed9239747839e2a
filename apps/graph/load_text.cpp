#include <fmt/format.h>

#include <algorithm>

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

Csr load_text(const File& file, const LoadOptions& options, LoadReport& report) {
  const Bytes memory = options.memory != 0 ? options.memory : available_memory();
  const Preamble preamble = read_preamble(file);
  TextEdges edges(file, preamble.begin, {}, memory / 4);
  drop_header(edges, preamble, file, options.header, report);
  if (edges.edges() == 0)
    throw GraphError(file.path(), {}, "holds no edges; expected two ids a line, such as '0 1'");
  compare_counts(edges, preamble, report);
  report.edges_read = edges.edges();
  Csr csr = build_loaded(edges, options, preamble.undirected);
  file.check_unchanged();
  return csr;
}

}  // namespace holdall::graph
