// Betweenness centrality of a paged graph, from some or all sources.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "apps/graph/level_schedule.hpp"
#include "apps/graph/paged_graph.hpp"
#include "kernels/centrality.hpp"

namespace holdall::graph {

struct CentralityResult {
  // The sum over the sources of their dependencies, not normalised: of an undirected graph with all
  // sources, twice what counts each pair once.
  std::vector<double> scores;
  RunTotals totals;
};

class Centrality {
 public:
  // Takes its vertex state: about 56 bytes a vertex of the budget, kept between runs.
  // Throws WorkingSetTooLarge where that is too much.
  explicit Centrality(const PagedGraph& graph);

  // Throws GraphError if there is no such source; what Engine::passes throws.
  CentralityResult run(std::span<const Vertex> sources, const ScheduleOptions& options = {},
                       const Watch& watch = {});

 private:
  const PagedGraph& graph_;
  VertexArray<double> scores_, paths_, dependencies_;
  VertexArray<std::uint32_t> depths_;
  VertexArray<Vertex> order_;
  VertexArray<std::uint64_t> bits_;
  std::optional<LevelSchedule> schedule_;
  Lease lease_;
};

}  // namespace holdall::graph
