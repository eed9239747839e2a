// PageRank over a paged graph, by pulling along in-edges: every iteration sweeps all of them,
// chunks that are resident first.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "apps/graph/device_list.hpp"
#include "apps/graph/paged_graph.hpp"
#include "kernels/pagerank.hpp"

namespace holdall::graph {

struct PagedPageRankOptions {
  float damping = 0.85F;
  int iterations = 20;      // at most
  double tolerance = 1e-4;  // stop once the sum of |new - old| is below it; 0: never
};

struct PagedPageRank {
  std::vector<float> scores;  // part 0 of a split graph has them
  int iterations = 0;
  double error = 0;
  double seconds = 0;
};

class PageRankRun {
 public:
  // Takes its vertex state: 12 bytes a vertex of the budget, kept between runs.
  // Throws WorkingSetTooLarge where that is too much.
  explicit PageRankRun(const PagedGraph& graph);

  // Throws what Engine::passes throws.
  PagedPageRank run(const PagedPageRankOptions& options = {}, const Watch& watch = {});

 private:
  void sweep(const kernels::PagerankState& state);

  const PagedGraph& graph_;
  VertexArray<float> scores_, contributions_, sums_;
  VertexArray<std::byte> workspace_;
  std::optional<DeviceList<kernels::EdgeSpan>> spans_;
  Lease lease_;
};

}  // namespace holdall::graph
