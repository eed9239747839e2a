// Counts the triangles of a paged, undirected graph: lists are cut into groups that fit side by
// side, and every two groups meet.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/graph/paged_graph.hpp"
#include "kernels/triangles.hpp"

namespace holdall::graph {

struct TrianglesResult {
  std::uint64_t triangles = 0;
  RunTotals totals;
};

class Triangles {
 public:
  // Takes a few bytes of the budget. Throws WorkingSetTooLarge where that is too much, GraphError
  // for a directed graph.
  explicit Triangles(const PagedGraph& graph);

  // Reads the edges once for every half of the budget that they fill. Throws WorkingSetTooLarge
  // where the longest lists do not fit in pairs; what Engine::acquire throws.
  TrianglesResult run(const Watch& watch = {});

 private:
  const PagedGraph& graph_;
  VertexArray<std::uint64_t> count_;
  Lease lease_;
};

}  // namespace holdall::graph
