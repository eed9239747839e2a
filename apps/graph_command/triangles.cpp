// holdall graph tc.
#include "apps/graph/triangles.hpp"

#include <memory>
#include <utility>

#include "apps/graph/reference.hpp"
#include "apps/graph_command/run.hpp"

namespace holdall::apps {

using namespace holdall::graph;  // NOLINT: this file is about graphs

namespace {

Outcome run(const PagedGraph& graph, const GraphOptions&, const Watch& watch) {
  Triangles triangles(graph);
  const TrianglesResult result = triangles.run(watch);
  Outcome outcome;
  outcome.facts = {{"triangles", result.triangles}};
  outcome.seconds = result.totals.seconds;
  outcome.lines = 1;
  outcome.line = [result](std::uint64_t) { return fmt::format("{}\n", result.triangles); };
  outcome.verify = [result](const Csr& csr) -> std::optional<std::string> {
    const std::uint64_t right = reference_triangles(csr);
    if (result.triangles == right) return {};
    return fmt::format("{} triangles, not {}", result.triangles, right);
  };
  return outcome;
}

}  // namespace

extern const Algorithm triangles{
    "tc",    "triangle count", "pass", "one line: how many there are", {.in = false}, false,
    nullptr, nullptr,          run};

}  // namespace holdall::apps
