// holdall graph demo.
#pragma once

#include "apps/graph_command/input.hpp"

namespace holdall::apps {

// BFS and PageRank with a quarter of the edges in memory, under every policy, checked; the exit
// status.
int run_demo(const GraphOptions& options);

}  // namespace holdall::apps
