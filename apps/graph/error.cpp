#include "apps/graph/error.hpp"

#include <fmt/format.h>

#include <string>

#include "apps/graph/csr.hpp"

namespace holdall::graph {

namespace {

std::string message(const std::filesystem::path& file, Place place, std::string_view problem,
                    std::string_view remedy) {
  std::string text = file.string();
  if (const auto* line = std::get_if<Line>(&place)) text += fmt::format(", line {}", line->number);
  if (const auto* byte = std::get_if<Byte>(&place)) text += fmt::format(", byte {}", byte->offset);
  text += fmt::format(": {}", problem);
  if (!remedy.empty()) text += fmt::format("; {}", remedy);
  return text;
}

}  // namespace

GraphError::GraphError(const std::filesystem::path& file, Place place, std::string_view problem,
                       std::string_view remedy)
    : Error(message(file, place, problem, remedy)), place_(place) {}

void check_vertex_count(const std::filesystem::path& file, Place place, std::uint64_t vertices) {
  if (vertices <= most_vertices) return;
  throw GraphError(
      file, place, fmt::format("{} vertices; at most {} are read", vertices, most_vertices),
      sizeof(Vertex) == 4 ? "use a build of wider ids: meson setup -Dvertex_bits=64" : "");
}

}  // namespace holdall::graph
