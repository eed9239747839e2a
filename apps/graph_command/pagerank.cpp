// holdall graph pagerank.
#include "apps/graph/pagerank.hpp"

#include <memory>
#include <utility>

#include "apps/graph/reference.hpp"
#include "apps/graph_command/run.hpp"

namespace holdall::apps {

using namespace holdall::graph;  // NOLINT: this file is about graphs

namespace {

void add_options(CLI::App& command, GraphOptions& o) {
  command.add_option("--iterations", o.pagerank.iterations, "at most so many")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command.add_option("--tolerance", o.pagerank.tolerance, "stop once scores change by less in all")
      ->check(is_not_negative)
      ->capture_default_str();
  command.add_option("--damping", o.pagerank.damping)->check(between(0, 1))->capture_default_str();
}

Outcome run(const PagedGraph& graph, const GraphOptions& o, const Watch& watch) {
  PageRankRun pagerank(graph);
  const auto result = std::make_shared<PagedPageRank>(pagerank.run(o.pagerank, watch));
  Outcome outcome;
  outcome.facts = {{"iterations", result->iterations}, {"error", result->error}};
  outcome.seconds = result->seconds;
  outcome.lines = result->scores.size();
  outcome.line = [result](std::uint64_t v) { return fmt::format("{:.9g}\n", result->scores[v]); };
  outcome.verify = [result, damping = o.pagerank.damping](const Csr& csr) {
    const PageRank reference = reference_pagerank(
        csr, {.damping = damping, .iterations = result->iterations, .tolerance = 0});
    return compare_scores(result->scores, reference.scores, 1e-4);
  };
  return outcome;
}

}  // namespace

extern const Algorithm pagerank{"pagerank",  "PageRank, as the GAP benchmark suite defines it",
                                "iteration", "a line a vertex: its score",
                                {},          true,
                                add_options, nullptr,
                                run};

}  // namespace holdall::apps
