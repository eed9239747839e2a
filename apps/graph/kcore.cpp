#include "apps/graph/kcore.hpp"

#include <algorithm>

#include "apps/graph/error.hpp"
#include "apps/graph/step_clock.hpp"

namespace holdall::graph {

Kcore::Kcore(const PagedGraph& graph) : graph_(graph) {
  if (graph.directed())
    throw GraphError("core numbers are of undirected graphs: read it with --symmetrize");
  const std::uint64_t n = graph.vertices();
  VertexData data(graph, "core numbers");
  cores_ = data.array<std::uint32_t>(n, "cores");
  degrees_ = data.array<std::uint32_t>(n, "degrees");
  frontier_ = data.array<Vertex>(n, "frontier");
  answer_ = data.array<std::uint32_t>(1, "least degree");
  bits_ = data.array<std::uint64_t>(kernels::bitmap_words(n), "to be peeled");
  schedule_.emplace(data, graph);
  lease_ = data.lease(graph.out().neighbours.chunk_bytes());
}

KcoreResult Kcore::run(const ScheduleOptions& options, const Watch& watch) {
  const Stream stream = graph_.stream();
  kernels::KcoreState state{graph_.vertices(),
                            graph_.out().offsets.data(),
                            nullptr,
                            cores_.data(),
                            degrees_.data(),
                            frontier_.data(),
                            bits_.data(),
                            answer_.data(),
                            schedule_->workspace()};
  schedule_->set(options);
  KcoreResult result;
  StepClock clock(graph_, watch);
  kernels::kcore_start(state, stream);
  for (std::uint32_t k; (k = kernels::kcore_least(state, stream)) != kernels::no_core;) {
    result.greatest = std::max(result.greatest, k);
    kernels::kcore_mark(state, k, stream);
    while (const std::uint64_t count = kernels::kcore_take(state, k, stream)) {
      clock.begin();
      schedule_->count(graph_.out(), {frontier_.data(), count});
      const LevelWork did = schedule_->work([&](const EdgeWork& work) {
        state.neighbours = work.neighbours;
        state.workspace = work.workspace;
        kernels::kcore_drop(state, k, work.items, work.pass, work.stream);
      });
      if (watch) graph_.engine().synchronize(stream);
      clock.end(count, did);
    }
  }
  graph_.engine().synchronize(stream);
  graph_.check_unchanged();
  result.totals = clock.totals();
  result.cores.resize(graph_.vertices());
  cores_.store(result.cores);
  return result;
}

}  // namespace holdall::graph
