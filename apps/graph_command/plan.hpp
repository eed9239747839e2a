// holdall graph plan.
#pragma once

#include "apps/graph_command/input.hpp"

namespace holdall::apps {

struct PlanOptions {
  GraphOptions graph;
  std::string algorithm;  // empty: all
  double link = 0;        // GB/s; 0: measured
};
void add_plan_options(CLI::App& command, PlanOptions& options);
int run_plan(const PlanOptions& options);

}  // namespace holdall::apps
