#include "apps/graph/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "apps/graph/error.hpp"
#include "apps/graph/external.hpp"
#include "kernels/random_edge.hpp"

namespace holdall::graph {

namespace {

kernels::RandomGraph drawing_of(const Generator& generator) {
  using Kind = kernels::RandomGraph::Kind;
  return {generator.kind == Generator::Kind::kron ? Kind::kron : Kind::urand, generator.scale,
          generator.edge_factor, generator.seed};
}

Edge edge_of(const kernels::RandomGraph& drawing, std::uint64_t i) {
  const kernels::RandomEdge edge = kernels::random_edge(drawing, i);
  return {edge.from, edge.to};
}

// First those along rows, then those down columns.
Edge grid_edge(const Generator& grid, std::uint64_t i) {
  const std::uint64_t along = grid.rows * (grid.columns - 1);
  if (i >= along) {
    const std::uint64_t from = i - along;
    return {static_cast<Vertex>(from), static_cast<Vertex>(from + grid.columns)};
  }
  const std::uint64_t from = i / (grid.columns - 1) * grid.columns + i % (grid.columns - 1);
  return {static_cast<Vertex>(from), static_cast<Vertex>(from + 1)};
}

class GeneratedEdges final : public EdgeSource {
 public:
  explicit GeneratedEdges(const Generator& generator)
      : generator_(generator), drawing_(drawing_of(generator)) {}
  std::uint64_t vertices() const override { return generator_.vertices(); }
  std::uint64_t blocks() const override { return (generator_.edges() + block - 1) / block; }
  EdgeBlock read(std::uint64_t index, EdgeScratch& scratch) const override {
    const std::uint64_t first = index * block;
    scratch.edges.resize(std::min(block, generator_.edges() - first));
    for (std::uint64_t i = 0; i < scratch.edges.size(); ++i)
      scratch.edges[i] = generator_.kind == Generator::Kind::grid ? grid_edge(generator_, first + i)
                                                                  : edge_of(drawing_, first + i);
    return {scratch.edges, {}};
  }

 private:
  static constexpr std::uint64_t block = 1 << 15;
  Generator generator_;
  kernels::RandomGraph drawing_;
};

constexpr std::string_view kron = "kron:", urand = "urand:", grid = "grid:";

}  // namespace

bool names_generator(std::string_view text) {
  return text.starts_with(kron) || text.starts_with(urand) || text.starts_with(grid);
}

namespace {

Generator parse_grid(std::string_view text, std::uint64_t seed) {
  Generator generator{.kind = Generator::Kind::grid, .seed = seed};
  const char* const end = text.data() + text.size();
  const auto rows = std::from_chars(text.data() + grid.size(), end, generator.rows);
  bool right = rows.ec == std::errc() && rows.ptr != end && *rows.ptr == 'x';
  if (right) {
    const auto columns = std::from_chars(rows.ptr + 1, end, generator.columns);
    right = columns.ec == std::errc() && columns.ptr == end && generator.rows >= 1 &&
            generator.columns >= 1 && generator.rows <= most_vertices / generator.columns;
  }
  if (!right)
    throw GraphError(fmt::format("'{}' is no grid: write grid:ROWSxCOLUMNS, of at most {} vertices",
                                 text, most_vertices));
  return generator;
}

}  // namespace

Generator parse_generator(std::string_view text, std::uint64_t seed) {
  if (text.starts_with(grid)) return parse_grid(text, seed);
  Generator generator;
  generator.seed = seed;
  generator.kind = text.starts_with(urand) ? Generator::Kind::urand : Generator::Kind::kron;
  const char* at = text.data() + std::min(text.size(), text.find(':') + 1);
  const char* const end = text.data() + text.size();
  bool right = names_generator(text);
  if (right) {
    auto [rest, error] = std::from_chars(at, end, generator.scale);
    right = error == std::errc();
    if (right && rest != end && *rest == ':') {
      const auto result = std::from_chars(rest + 1, end, generator.edge_factor);
      right = result.ec == std::errc();
      rest = result.ptr;
    }
    right = right && rest == end && generator.scale >= 1 &&
            generator.scale <= kernels::most_scale && generator.edge_factor >= 1 &&
            generator.edge_factor <= 65536;
  }
  if (!right)
    throw GraphError(
        fmt::format("'{}' is no generated graph: write kron:SCALE[:EDGEFACTOR] or "
                    "urand:SCALE[:EDGEFACTOR], scale 1 to {}, edge factor 1 to 65536, or "
                    "grid:ROWSxCOLUMNS",
                    text, kernels::most_scale));
  return generator;
}

std::string to_string(const Generator& generator) {
  if (generator.kind == Generator::Kind::grid)
    return fmt::format("{}{}x{}", grid, generator.rows, generator.columns);
  return fmt::format("{}{}:{}", generator.kind == Generator::Kind::kron ? kron : urand,
                     generator.scale, generator.edge_factor);
}

Edge generate_edge(const Generator& generator, std::uint64_t i) {
  if (generator.kind == Generator::Kind::grid) return grid_edge(generator, i);
  return edge_of(drawing_of(generator), i);
}

namespace {

BuildOptions simple(Bytes memory, const Progress& progress) {
  return {.symmetrize = true,
          .deduplicate = true,
          .remove_self_loops = true,
          .memory = memory,
          .progress = progress};
}

}  // namespace

Csr generate(const Generator& generator, Bytes memory, const Progress& progress) {
  return build_csr(GeneratedEdges(generator), simple(memory, progress));
}

void generate_hold(const Generator& generator, const std::filesystem::path& path, Bytes memory,
                   const Progress& progress) {
  build_hold(GeneratedEdges(generator), simple(memory, progress), path);
}

}  // namespace holdall::graph
