// holdall graph sssp.
#include "apps/graph/sssp.hpp"

#include <bit>
#include <memory>
#include <utility>

#include "apps/graph/reference.hpp"
#include "apps/graph_command/run.hpp"

namespace holdall::apps {

using namespace holdall::graph;  // NOLINT: this file is about graphs

namespace {

void add_options(CLI::App& command, GraphOptions& o) {
  add_sources(command, o);
  command
      .add_option("--delta", o.sssp.delta,
                  "how far past the nearest vertex a step goes (default: by weights and degrees)")
      ->check(is_positive);
}

Outcome run(const PagedGraph& graph, const GraphOptions& o, const Watch& watch) {
  Sssp sssp(graph);
  const std::vector<Vertex> sources = sources_of(graph, o);
  SsspOptions options = o.sssp;
  options.schedule = o.schedule;
  auto results = std::make_shared<std::vector<std::pair<Vertex, std::vector<std::uint32_t>>>>();
  Outcome outcome;
  nlohmann::json searches = nlohmann::json::array();
  for (const Vertex source : sources) {
    SsspResult result = sssp.run(source, options, watch);
    outcome.seconds += result.totals.seconds;
    searches.push_back({{"source", source},
                        {"reached", result.reached},
                        {"levels", result.totals.steps},
                        {"seconds", result.totals.seconds}});
    if (!o.verify) results->clear();
    results->emplace_back(source, std::move(result.distances));
  }
  const auto& last = searches.back();
  if (o.sources == 0)
    outcome.facts = {
        {"source", last["source"]}, {"reached", last["reached"]}, {"levels", last["levels"]}};
  else
    outcome.facts = {{"searches", o.sources},
                     {"mean_seconds", outcome.seconds / static_cast<double>(o.sources)},
                     {"each", searches}};
  outcome.lines = results->back().second.size();
  const bool floating = graph.weights() == Weights::float32;
  outcome.line = [results, floating](std::uint64_t v) {
    const std::uint32_t distance = results->back().second[v];
    if (distance == unreached) return std::string("-1\n");
    return floating ? fmt::format("{:.9g}\n", std::bit_cast<float>(distance))
                    : fmt::format("{}\n", distance);
  };
  outcome.verify = [results](const Csr& csr) {
    std::optional<std::string> wrong;
    for (const auto& [source, distances] : *results)
      if (!wrong) wrong = verify_distances(csr, source, distances);
    return wrong;
  };
  return outcome;
}

}  // namespace

extern const Algorithm sssp{"sssp",
                            "shortest paths by weight, from one source",
                            "step",
                            "a line a vertex: its distance, -1 where it is not reached",
                            {.in = false, .weights = true},
                            true,
                            add_options,
                            check_source,
                            run};

}  // namespace holdall::apps
