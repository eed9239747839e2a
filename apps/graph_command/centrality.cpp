// holdall graph bc.
#include "apps/graph/centrality.hpp"

#include <memory>
#include <utility>

#include "apps/graph/reference.hpp"
#include "apps/graph_command/run.hpp"

namespace holdall::apps {

using namespace holdall::graph;  // NOLINT: this file is about graphs

namespace {

void add_options(CLI::App& command, GraphOptions& o) { add_sources(command, o); }

Outcome run(const PagedGraph& graph, const GraphOptions& o, const Watch& watch) {
  Centrality centrality(graph);
  const std::vector<Vertex> sources = sources_of(graph, o);
  const auto result =
      std::make_shared<CentralityResult>(centrality.run(sources, o.schedule, watch));
  Outcome outcome;
  outcome.facts = {{"searches", sources.size()}};
  outcome.seconds = result->totals.seconds;
  outcome.lines = result->scores.size();
  outcome.line = [result](std::uint64_t v) { return fmt::format("{:.9g}\n", result->scores[v]); };
  outcome.verify = [result, sources](const Csr& csr) {
    return compare_centrality(result->scores, reference_centrality(csr, sources), 1e-6);
  };
  return outcome;
}

}  // namespace

extern const Algorithm centrality{"bc",
                                  "betweenness centrality, from one source or some drawn",
                                  "level",
                                  "a line a vertex: its score",
                                  {.in = false},
                                  false,
                                  add_options,
                                  check_source,
                                  run};

}  // namespace holdall::apps
