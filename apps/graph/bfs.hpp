// Breadth-first search over a paged graph, level by level, each from the side that has less to
// read: top-down along the out-edges of the frontier, or bottom-up along the in-edges of what is
// not reached yet.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "apps/graph/level_schedule.hpp"
#include "apps/graph/paged_graph.hpp"
#include "kernels/bfs.hpp"

namespace holdall::graph {

enum class Direction { optimizing, top_down, bottom_up };

struct BfsOptions {
  Direction direction = Direction::optimizing;
  // Bottom-up begins once the frontier has more than 1/alpha of the edges that are left, and ends
  // once it has less than 1/beta of the vertices and shrinks: as in the GAP benchmark suite.
  double alpha = 15;
  double beta = 18;
  ScheduleOptions schedule;
};

struct BfsResult {
  // kernels::no_vertex where not reached; the source's is itself. Part 0 of a split graph has them.
  std::vector<Vertex> parents;
  std::uint64_t reached = 0;
  std::uint64_t edges = 0;  // of the lists that were looked at
  std::uint64_t edges_in_place = 0;
  Bytes bytes_in_place = 0;
  int levels = 0;
  double seconds = 0;
};

class Bfs {
 public:
  // Takes its vertex state: about 36 bytes a vertex of the budget, kept between runs. Goes top-down
  // only where the graph has no in-edges (PagedGraph::Options).
  // Throws WorkingSetTooLarge where that is too much.
  explicit Bfs(const PagedGraph& graph);

  // Throws GraphError if there is no such source; what Engine::passes throws.
  BfsResult run(std::uint64_t source, const Watch& watch = {}) { return run(source, {}, watch); }
  BfsResult run(std::uint64_t source, const BfsOptions& options, const Watch& watch = {});

 private:
  const PagedGraph& graph_;
  VertexArray<Vertex> parents_, frontier_;
  VertexArray<std::uint64_t> reached_, settled_, front_;
  std::optional<LevelSchedule> schedule_;
  Lease lease_;
};

}  // namespace holdall::graph
