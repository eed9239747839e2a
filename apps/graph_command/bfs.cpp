// holdall graph bfs.
#include "apps/graph/bfs.hpp"

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
      .add_option_function<std::string>(
          "--direction",
          [&o](const std::string& text) {
            o.bfs.direction = text == "top-down"    ? Direction::top_down
                              : text == "bottom-up" ? Direction::bottom_up
                                                    : Direction::optimizing;
          },
          "optimizing (each level from the side with less to read), top-down or bottom-up")
      ->type_name("WAY")
      ->check(CLI::IsMember({"optimizing", "top-down", "bottom-up"}));
  command.add_option("--alpha", o.bfs.alpha, "bottom-up from 1/alpha of the edges that are left")
      ->check(is_positive)
      ->capture_default_str();
  command.add_option("--beta", o.bfs.beta, "top-down again below 1/beta of the vertices")
      ->check(is_positive)
      ->capture_default_str();
}

Outcome run(const PagedGraph& graph, const GraphOptions& o, const Watch& watch) {
  Bfs bfs(graph);
  const std::vector<Vertex> sources = sources_of(graph, o);
  BfsOptions options = o.bfs;
  options.schedule = o.schedule;
  // Kept to be checked, or the last alone.
  auto results = std::make_shared<std::vector<std::pair<Vertex, std::vector<Vertex>>>>();
  Outcome outcome;
  nlohmann::json searches = nlohmann::json::array();
  for (const Vertex source : sources) {
    BfsResult result = bfs.run(source, options, watch);
    outcome.seconds += result.seconds;
    searches.push_back({{"source", source},
                        {"reached", result.reached},
                        {"levels", result.levels},
                        {"seconds", result.seconds}});
    if (!o.verify) results->clear();
    results->emplace_back(source, std::move(result.parents));
  }
  const auto& last = searches.back();
  if (o.sources == 0) {
    outcome.facts = {
        {"source", last["source"]}, {"reached", last["reached"]}, {"levels", last["levels"]}};
    if (last["reached"] == 1 && graph.exchange().part() == 0)
      note(fmt::format("vertex {} has no edge to another, so it reaches itself alone", o.source));
  } else {
    outcome.facts = {{"searches", o.sources},
                     {"mean_seconds", outcome.seconds / static_cast<double>(o.sources)},
                     {"each", searches}};
  }
  outcome.lines = results->back().second.size();
  outcome.line = [results](std::uint64_t v) {
    const Vertex parent = results->back().second[v];
    return parent == kernels::no_vertex ? std::string("-1\n") : fmt::format("{}\n", parent);
  };
  outcome.verify = [results](const Csr& csr) {
    std::optional<std::string> wrong;
    for (const auto& [source, parents] : *results)
      if (!wrong) wrong = verify_parents(csr, source, parents);
    return wrong;
  };
  return outcome;
}

}  // namespace

extern const Algorithm bfs{"bfs",       "breadth-first search",
                           "level",     "a line a vertex: its parent, -1 where it is not reached",
                           {},          true,
                           add_options, check_source,
                           run};

}  // namespace holdall::apps
