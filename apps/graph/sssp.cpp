#include "apps/graph/sssp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "apps/graph/error.hpp"
#include "apps/graph/step_clock.hpp"

namespace holdall::graph {

Sssp::Sssp(const PagedGraph& graph) : graph_(graph) {
  if (graph.weights() == Weights::none)
    throw GraphError("shortest paths need weights, and the graph was paged without");
  const std::uint64_t n = graph.vertices();
  VertexData data(graph, "SSSP");
  distances_ = data.array<std::uint32_t>(n, "distances");
  frontier_ = data.array<Vertex>(n, "frontier");
  waiting_ = data.array<std::uint64_t>(kernels::bitmap_words(n), "waiting");
  chosen_ = data.array<std::uint64_t>(kernels::bitmap_words(n), "chosen");
  answers_ = data.array<std::uint32_t>(2, "SSSP answers");
  schedule_.emplace(data, graph, true);
  lease_ = data.lease(graph.out().neighbours.chunk_bytes() + graph.out().weights.chunk_bytes());
}

// As bits, of a whole number or a float.
std::uint32_t Sssp::delta_of(const SsspOptions& options) {
  const bool floating = graph_.weights() == Weights::float32;
  double delta = options.delta;
  if (delta <= 0) {
    if (mean_weight_ == 0) {
      std::vector<std::uint32_t> some(std::min<std::uint64_t>(graph_.out().edges, 4096));
      if (!some.empty())
        graph_.engine().store(graph_.out().weights, 0, std::span<std::uint32_t>(some),
                              graph_.device());
      double sums[] = {0, static_cast<double>(some.size())};
      for (const std::uint32_t bits : some)
        sums[0] += floating ? static_cast<double>(std::bit_cast<float>(bits)) : bits;
      graph_.exchange().sum(sums);
      if (sums[1] > 0) mean_weight_ = sums[0] / sums[1];
    }
    delta = 32 * mean_weight_ * static_cast<double>(graph_.vertices()) /
            static_cast<double>(std::max<std::uint64_t>(graph_.edges(), 1));
  }
  if (floating) return std::bit_cast<std::uint32_t>(static_cast<float>(std::max(delta, 1e-30)));
  return static_cast<std::uint32_t>(std::clamp(delta, 1.0, 2e9));
}

SsspResult Sssp::run(std::uint64_t source, const SsspOptions& options, const Watch& watch) {
  if (source >= graph_.vertices())
    throw GraphError(fmt::format("there is no vertex {} to start from: the graph has {}, from 0 on",
                                 source, graph_.vertices()));
  const Stream stream = graph_.stream();
  const bool floating = graph_.weights() == Weights::float32;
  kernels::SsspState state{
      graph_.vertices(),     nullptr,         nullptr,        floating,        distances_.data(),
      frontier_.data(),      waiting_.data(), chosen_.data(), answers_.data(), answers_.data() + 1,
      schedule_->workspace()};
  schedule_->set(options.schedule);
  const std::uint32_t delta = delta_of(options);
  SsspResult result;
  Exchange& exchange = graph_.exchange();
  StepClock clock(graph_, watch);
  kernels::sssp_start(state, static_cast<Vertex>(source), stream);
  for (std::uint32_t limit = delta;;) {
    clock.begin();
    const std::uint64_t count = kernels::sssp_select(state, limit, stream);
    if (count == 0) {
      const std::uint32_t nearest = kernels::sssp_nearest(state, stream);
      if (nearest == kernels::no_path) break;
      // A float may be too great for the sum to be greater.
      limit = std::max(kernels::path_along(nearest, delta, floating), nearest + 1);
      continue;
    }
    schedule_->count(graph_.out(), graph_.own(frontier_.data(), count, schedule_->workspace()));
    const LevelWork did = schedule_->work([&](const EdgeWork& work) {
      state.neighbours = work.neighbours;
      state.weights = work.weights;
      state.workspace = work.workspace;
      kernels::sssp_relax(state, work.items, work.pass, work.stream);
    });
    exchange.lower(distances_);
    exchange.unite(waiting_);
    if (watch) graph_.engine().synchronize(stream);
    clock.end(count, did);
  }
  graph_.engine().synchronize(stream);
  graph_.check_unchanged();
  result.totals = clock.totals();
  std::vector<std::uint32_t> answers(2);
  answers_.store(answers);
  if (exchange.sum(std::uint64_t{answers[1]}) != 0)
    throw GraphError(
        fmt::format("a path from vertex {} is longer than {}, the most that a distance "
                    "can be: use floats, or smaller weights",
                    source, kernels::no_path - 1));
  if (exchange.part() > 0) return result;
  result.distances.resize(graph_.vertices());
  distances_.store(result.distances);
  for (const std::uint32_t distance : result.distances)
    result.reached += distance != kernels::no_path;
  return result;
}

}  // namespace holdall::graph
