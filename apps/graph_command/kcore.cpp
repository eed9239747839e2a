// holdall graph kcore.
#include "apps/graph/kcore.hpp"

#include <memory>
#include <utility>

#include "apps/graph/reference.hpp"
#include "apps/graph_command/run.hpp"

namespace holdall::apps {

using namespace holdall::graph;  // NOLINT: this file is about graphs

namespace {

Outcome run(const PagedGraph& graph, const GraphOptions& o, const Watch& watch) {
  Kcore kcore(graph);
  const auto result = std::make_shared<KcoreResult>(kcore.run(o.schedule, watch));
  Outcome outcome;
  outcome.facts = {{"cores", result->greatest}};
  outcome.seconds = result->totals.seconds;
  outcome.lines = result->cores.size();
  outcome.line = [result](std::uint64_t v) { return fmt::format("{}\n", result->cores[v]); };
  outcome.verify = [result](const Csr& csr) { return verify_cores(csr, result->cores); };
  return outcome;
}

}  // namespace

extern const Algorithm kcore{
    "kcore", "core numbers", "round", "a line a vertex: its core number", {.in = false}, false,
    nullptr, nullptr,        run};

}  // namespace holdall::apps
