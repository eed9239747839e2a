// Core numbers of a paged, undirected graph.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "apps/graph/level_schedule.hpp"
#include "apps/graph/paged_graph.hpp"
#include "kernels/kcore.hpp"

namespace holdall::graph {

struct KcoreResult {
  std::vector<std::uint32_t> cores;
  std::uint32_t greatest = 0;
  RunTotals totals;
};

class Kcore {
 public:
  // Takes its vertex state: about 32 bytes a vertex of the budget, kept between runs.
  // Throws WorkingSetTooLarge where that is too much, GraphError for a directed graph.
  explicit Kcore(const PagedGraph& graph);

  // Throws what Engine::passes throws.
  KcoreResult run(const ScheduleOptions& options = {}, const Watch& watch = {});

 private:
  const PagedGraph& graph_;
  VertexArray<std::uint32_t> cores_, degrees_, answer_;
  VertexArray<Vertex> frontier_;
  VertexArray<std::uint64_t> bits_;
  std::optional<LevelSchedule> schedule_;
  Lease lease_;
};

}  // namespace holdall::graph
