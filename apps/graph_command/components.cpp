// holdall graph cc.
#include "apps/graph/components.hpp"

#include <memory>
#include <utility>

#include "apps/graph/reference.hpp"
#include "apps/graph_command/run.hpp"

namespace holdall::apps {

using namespace holdall::graph;  // NOLINT: this file is about graphs

namespace {

void add_options(CLI::App& command, GraphOptions& o) {
  command
      .add_option_function<std::string>(
          "--method",
          [&o](const std::string& text) {
            using Method = ComponentsOptions::Method;
            o.components.method = text == "multistep"  ? Method::multistep
                                  : text == "afforest" ? Method::afforest
                                                       : Method::label_propagation;
          },
          "multistep, afforest or label-propagation")
      ->type_name("METHOD")
      ->check(CLI::IsMember({"multistep", "afforest", "label-propagation"}));
}

Outcome run(const PagedGraph& graph, const GraphOptions& o, const Watch& watch) {
  Components components(graph);
  ComponentsOptions options = o.components;
  options.schedule = o.schedule;
  const auto result = std::make_shared<ComponentsResult>(components.run(options, watch));
  Outcome outcome;
  outcome.facts = {{"components", result->components}};
  outcome.seconds = result->totals.seconds;
  outcome.lines = result->labels.size();
  outcome.line = [result](std::uint64_t v) { return fmt::format("{}\n", result->labels[v]); };
  outcome.verify = [result](const Csr& csr) { return verify_components(csr, result->labels); };
  return outcome;
}

}  // namespace

extern const Algorithm components{
    "cc",        "connected components, whatever the edges' direction",
    "step",      "a line a vertex: the vertex that its component is called by",
    {},          true,
    add_options, nullptr,
    run};

}  // namespace holdall::apps
