#include "apps/graph/bfs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "apps/graph/error.hpp"
#include "apps/graph/step_clock.hpp"

namespace holdall::graph {

Bfs::Bfs(const PagedGraph& graph) : graph_(graph) {
  const std::uint64_t n = graph.vertices();
  const std::uint64_t words = kernels::bitmap_words(n);
  VertexData data(graph, "BFS");
  parents_ = data.array<Vertex>(n, "parents");
  frontier_ = data.array<Vertex>(n, "frontier");
  reached_ = data.array<std::uint64_t>(words, "reached");
  settled_ = data.array<std::uint64_t>(words, "settled");
  front_ = data.array<std::uint64_t>(words, "front");
  schedule_.emplace(data, graph);
  lease_ = data.lease(graph.out().neighbours.chunk_bytes());
}

BfsResult Bfs::run(std::uint64_t source, const BfsOptions& options, const Watch& watch) {
  if (source >= graph_.vertices())
    throw GraphError(fmt::format("there is no vertex {} to start from: the graph has {}, from 0 on",
                                 source, graph_.vertices()));
  const Stream stream = graph_.stream();
  const auto n = static_cast<double>(graph_.vertices());
  kernels::BfsState state{
      graph_.vertices(), nullptr,         parents_.data(), frontier_.data(),
      reached_.data(),   settled_.data(), front_.data(),   schedule_->workspace()};
  ScheduleOptions schedule = options.schedule;
  schedule.each_once = options.direction == Direction::top_down;
  schedule_->set(schedule);
  const bool may_pull = static_cast<bool>(graph_.in().neighbours);
  Exchange& exchange = graph_.exchange();
  const auto own = [&](std::uint64_t count) {
    return graph_.own(frontier_.data(), count, schedule_->workspace());
  };
  BfsResult result;
  StepClock clock(graph_, watch);
  std::uint64_t before = 0;
  double edges_left = static_cast<double>(graph_.edges());
  bool pull = false;
  for (std::uint64_t count = kernels::bfs_start(state, static_cast<Vertex>(source), stream);
       count > 0; ++result.levels) {
    clock.begin();
    result.reached += count;
    const std::uint64_t frontier = count;
    // 1. from which side
    if (pull) pull = count >= before || static_cast<double>(count) > n / options.beta;
    if (options.direction != Direction::optimizing)
      pull = options.direction == Direction::bottom_up;
    pull = pull && may_pull;
    if (!pull) {
      const auto edges =
          static_cast<double>(exchange.sum(schedule_->count(graph_.out(), own(count))));
      pull = options.direction == Direction::optimizing && may_pull &&
             edges > edges_left / options.alpha;
      edges_left -= edges;
    }
    before = count;
    // 2. along the edges
    LevelWork did;
    if (pull) {
      count = kernels::bfs_unreached(state, stream);
      schedule_->count(graph_.in(), own(count));
      // A list is read until it leads to the frontier, in aligned groups.
      const double each = std::max(8.0, n / static_cast<double>(frontier));
      did = schedule_->work(
          [&](const EdgeWork& work) {
            state.neighbours = work.neighbours;
            state.workspace = work.workspace;
            kernels::bfs_pull(state, work.items, work.pass, work.stream);
          },
          each);
    } else {
      did = schedule_->work([&](const EdgeWork& work) {
        state.neighbours = work.neighbours;
        state.workspace = work.workspace;
        kernels::bfs_expand(state, work.items, work.pass, work.stream);
      });
    }
    // 3. the next frontier, of all parts
    exchange.unite(reached_);
    count = kernels::bfs_next_frontier(state, stream);
    clock.end(frontier, did, pull);
  }
  result.edges = clock.totals().edges;
  result.edges_in_place = clock.totals().edges_in_place;
  result.bytes_in_place = clock.totals().bytes_in_place;
  graph_.engine().synchronize(stream);
  graph_.check_unchanged();
  // Of several that parts have given a vertex in one level, any will do.
  exchange.lower(parents_);
  result.seconds = clock.seconds();
  if (exchange.part() > 0) return result;
  result.parents.resize(graph_.vertices());
  parents_.store(result.parents);
  return result;
}

}  // namespace holdall::graph
