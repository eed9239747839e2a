#include "apps/graph/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "apps/graph/error.hpp"
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
      scratch.edges[i] = edge_of(drawing_, first + i);
    return {scratch.edges, {}};
  }

 private:
  static constexpr std::uint64_t block = 1 << 15;
  Generator generator_;
  kernels::RandomGraph drawing_;
};

constexpr std::string_view kron = "kron:", urand = "urand:";

}  // namespace

bool names_generator(std::string_view text) {
  return text.starts_with(kron) || text.starts_with(urand);
}

Generator parse_generator(std::string_view text, std::uint64_t seed) {
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
    right = right && rest == end && generator.scale >= 1 && generator.scale <= 32 &&
            generator.edge_factor >= 1 && generator.edge_factor <= 65536;
  }
  if (!right)
    throw GraphError(
        fmt::format("'{}' is no generated graph: write kron:SCALE[:EDGEFACTOR] or "
                    "urand:SCALE[:EDGEFACTOR], scale 1 to 32, edge factor 1 to 65536",
                    text));
  return generator;
}

std::string to_string(const Generator& generator) {
  return fmt::format("{}{}:{}", generator.kind == Generator::Kind::kron ? kron : urand,
                     generator.scale, generator.edge_factor);
}

Edge generate_edge(const Generator& generator, std::uint64_t i) {
  return edge_of(drawing_of(generator), i);
}

Csr generate(const Generator& generator, Bytes memory, const Progress& progress) {
  return build_csr(GeneratedEdges(generator), {.symmetrize = true,
                                               .deduplicate = true,
                                               .remove_self_loops = true,
                                               .memory = memory,
                                               .progress = progress});
}

}  // namespace holdall::graph
