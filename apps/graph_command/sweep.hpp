// holdall graph sweep: one algorithm over memories and policies, a table and a chart.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "apps/graph_command/run.hpp"

namespace holdall::apps {

struct SweepOptions {
  GraphOptions graph;
  std::vector<Bytes> memories;
  std::vector<std::string> policies;
  std::string algorithm = "pagerank";
  std::string table, chart;
};
void add_sweep_options(CLI::App& command, SweepOptions& options);
// `algorithms`: those there are. The exit status.
int run_sweep(const SweepOptions& options, std::span<const Algorithm* const> algorithms);

}  // namespace holdall::apps
