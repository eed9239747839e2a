// Connected components of a paged graph, its edges taken as undirected (weakly connected, if it is
// directed).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "apps/graph/level_schedule.hpp"
#include "apps/graph/paged_graph.hpp"
#include "apps/graph/step_clock.hpp"
#include "kernels/components.hpp"

namespace holdall::graph {

struct ComponentsOptions {
  // Afforest reads the first edges of every list, then those of the vertices alone that these have
  // not joined to the greatest component. Multistep searches for the greatest component first, from
  // a vertex of many edges, and leaves to Afforest what is outside. Label propagation sweeps until
  // nothing changes.
  enum class Method { multistep, afforest, label_propagation } method = Method::multistep;
  std::uint32_t rounds = 2;  // edges of each list that Afforest begins with
  ScheduleOptions schedule;
};

struct ComponentsResult {
  // The smallest vertex of each one's component. Part 0 of a split graph has them, and their
  // number.
  std::vector<Vertex> labels;
  std::uint64_t components = 0;
  RunTotals totals;
};

class Components {
 public:
  // Takes its vertex state: about 28 bytes a vertex of the budget, kept between runs.
  // Throws WorkingSetTooLarge where that is too much; GraphError where a directed graph has not
  // both directions (PagedGraph::Options).
  explicit Components(const PagedGraph& graph);

  // Throws what Engine::passes throws.
  ComponentsResult run(const ComponentsOptions& options = {}, const Watch& watch = {});

 private:
  // Each answers how many vertices are outside of the component that it found: the frontier.
  std::uint64_t search(kernels::ComponentsState& state, StepClock& clock);
  std::uint64_t sample(kernels::ComponentsState& state, std::uint32_t rounds, StepClock& clock);
  LevelWork along_all(kernels::ComponentsState& state, std::uint64_t count, bool link);
  void join(const kernels::ComponentsState& state);

  const PagedGraph& graph_;
  VertexArray<Vertex> labels_, frontier_, sent_;
  VertexArray<std::uint64_t> bits_, settled_;
  std::optional<LevelSchedule> schedule_;
  Lease lease_;
};

}  // namespace holdall::graph
