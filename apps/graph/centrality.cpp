#include "apps/graph/centrality.hpp"

#include <fmt/format.h>

#include "apps/graph/error.hpp"
#include "apps/graph/step_clock.hpp"

namespace holdall::graph {

Centrality::Centrality(const PagedGraph& graph) : graph_(graph) {
  const std::uint64_t n = graph.vertices();
  VertexData data(graph, "betweenness");
  scores_ = data.array<double>(n, "scores");
  paths_ = data.array<double>(n, "paths");
  dependencies_ = data.array<double>(n, "dependencies");
  depths_ = data.array<std::uint32_t>(n, "depths");
  order_ = data.array<Vertex>(n, "order");
  bits_ = data.array<std::uint64_t>(kernels::bitmap_words(n), "next level");
  schedule_.emplace(data, graph);
  lease_ = data.lease(graph.out().neighbours.chunk_bytes());
}

CentralityResult Centrality::run(std::span<const Vertex> sources, const ScheduleOptions& options,
                                 const Watch& watch) {
  const Stream stream = graph_.stream();
  kernels::CentralityState state{
      graph_.vertices(), nullptr,       scores_.data(), paths_.data(),         dependencies_.data(),
      depths_.data(),    order_.data(), bits_.data(),   schedule_->workspace()};
  schedule_->set(options);
  CentralityResult result;
  StepClock clock(graph_, watch);
  kernels::centrality_clear(state, stream);
  for (const Vertex source : sources) {
    if (source >= graph_.vertices())
      throw GraphError(
          fmt::format("there is no vertex {} to start from: the graph has {}, from 0 on", source,
                      graph_.vertices()));
    kernels::centrality_start(state, source, stream);
    std::vector<std::uint64_t> begins{0, 1};  // in the order, of each level
    const auto along = [&](std::size_t depth, auto step) {
      const std::uint64_t count = begins[depth + 1] - begins[depth];
      schedule_->count(graph_.out(), {order_.data() + begins[depth], count});
      return schedule_->work([&](const EdgeWork& work) {
        state.neighbours = work.neighbours;
        state.workspace = work.workspace;
        step(state, static_cast<std::uint32_t>(depth), work.items, work.pass, work.stream);
      });
    };
    // 1. forward, until a level is empty
    std::size_t depth = 0;
    for (; begins[depth] < begins[depth + 1]; ++depth) {
      clock.begin();
      const LevelWork did = along(depth, kernels::centrality_forward);
      begins.push_back(begins.back() + kernels::centrality_next(state, begins.back(), stream));
      clock.end(begins[depth + 1] - begins[depth], did);
    }
    // 2. backward: the last level has nobody behind it
    for (--depth; depth-- > 0;) {
      clock.begin();
      const LevelWork did = along(depth, kernels::centrality_backward);
      if (watch) graph_.engine().synchronize(stream);
      clock.end(begins[depth + 1] - begins[depth], did);
    }
    kernels::centrality_add(state, source, stream);
  }
  graph_.engine().synchronize(stream);
  graph_.check_unchanged();
  result.totals = clock.totals();
  result.scores.resize(graph_.vertices());
  scores_.store(result.scores);
  return result;
}

}  // namespace holdall::graph
