// Shortest paths from one source over a paged graph with weights.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "apps/graph/level_schedule.hpp"
#include "apps/graph/paged_graph.hpp"
#include "kernels/sssp.hpp"

namespace holdall::graph {

struct SsspOptions {
  // How far past the nearest waiting vertex a step goes: more makes fewer steps, and more edges
  // that are read again. 0: 32 times the mean weight over the mean degree.
  double delta = 0;
  ScheduleOptions schedule;
};

struct SsspResult {
  // Whole numbers, or floats by their bits (PagedGraph::weights); kernels::no_path where not
  // reached. Part 0 of a split graph has them, and their number.
  std::vector<std::uint32_t> distances;
  std::uint64_t reached = 0;
  RunTotals totals;
};

class Sssp {
 public:
  // The graph must have been paged with its weights. Takes its vertex state: about 28 bytes a
  // vertex of the budget, kept between runs. Throws WorkingSetTooLarge where that is too much,
  // GraphError where there are no weights.
  explicit Sssp(const PagedGraph& graph);

  // Throws GraphError if there is no such source, or a distance is past what 32 bits hold; what
  // Engine::passes throws.
  SsspResult run(std::uint64_t source, const SsspOptions& options = {}, const Watch& watch = {});

 private:
  std::uint32_t delta_of(const SsspOptions& options);

  const PagedGraph& graph_;
  VertexArray<std::uint32_t> distances_, answers_;
  VertexArray<Vertex> frontier_;
  VertexArray<std::uint64_t> waiting_, chosen_;
  std::optional<LevelSchedule> schedule_;
  double mean_weight_ = 0;  // 0: not looked at yet
  Lease lease_;
};

}  // namespace holdall::graph
