#include "apps/graph/components.hpp"

#include <algorithm>
#include <vector>

#include "apps/graph/error.hpp"
#include "apps/graph/reach.hpp"

namespace holdall::graph {

Components::Components(const PagedGraph& graph) : graph_(graph) {
  if (!graph.out().neighbours || !graph.in().neighbours)
    throw GraphError("components of a directed graph need its edges in both directions");
  const std::uint64_t n = graph.vertices();
  VertexData data(graph, "components");
  labels_ = data.array<Vertex>(n, "labels");
  frontier_ = data.array<Vertex>(n, "frontier");
  bits_ = data.array<std::uint64_t>(kernels::bitmap_words(n), "changed");
  settled_ = data.array<std::uint64_t>(kernels::bitmap_words(n), "settled");
  if (graph.exchange().parts() > 1) sent_ = data.array<Vertex>(n, "labels for other parts");
  schedule_.emplace(data, graph);
  lease_ = data.lease(graph.out().neighbours.chunk_bytes());
}

// Links the frontier along all of its edges, or sends its labels along them.
LevelWork Components::along_all(kernels::ComponentsState& state, std::uint64_t count, bool link) {
  LevelWork did;
  const auto along = [&](const PagedAdjacency& edges) {
    schedule_->count(edges, graph_.own(frontier_.data(), count, schedule_->workspace()));
    did += schedule_->work([&](const EdgeWork& work) {
      kernels::ComponentsState its = state;
      its.neighbours = work.neighbours;
      its.workspace = work.workspace;
      if (link)
        kernels::components_link(its, work.items, work.pass, work.stream);
      else
        kernels::components_send(its, work.items, work.pass, work.stream);
    });
  };
  along(graph_.out());
  if (graph_.directed()) along(graph_.in());
  return did;
}

// Trees over the edges of all parts, from those over each part's.
void Components::join(const kernels::ComponentsState& state) {
  Exchange& exchange = graph_.exchange();
  const Stream stream = graph_.stream();
  kernels::components_flatten(state, stream);
  if (exchange.parts() == 1) return;
  // Others read what this part found while it goes on joining.
  const Bytes bytes = graph_.vertices() * sizeof(Vertex);
  const Bytes piece = labels_.range().chunk_bytes();
  for (Bytes at = 0; at < bytes; at += piece)
    vmm::check(graph_.engine().driver().copy(sent_.data() + at / sizeof(Vertex),
                                             labels_.data() + at / sizeof(Vertex),
                                             std::min(piece, bytes - at), stream),
               "copy labels");
  exchange.visit_others(
      sent_, [&](const Vertex* theirs) { kernels::components_join(state, theirs, stream); });
  kernels::components_flatten(state, stream);
}

std::uint64_t Components::search(kernels::ComponentsState& state, StepClock& clock) {
  const Stream stream = graph_.stream();
  Exchange& exchange = graph_.exchange();
  // 1. of all parts' vertices, one of the most edges
  const kernels::Hub mine = kernels::components_hub(state, stream);
  std::vector<std::uint64_t> hubs(2 * static_cast<std::size_t>(exchange.parts()));
  std::uint64_t* const own = hubs.data() + 2 * static_cast<std::size_t>(exchange.part());
  own[0] = mine.edges;
  own[1] = mine.vertex;
  exchange.sum(hubs);
  std::size_t hub = 0;
  for (std::size_t i = 2; i < hubs.size(); i += 2)
    if (hubs[i] > hubs[hub]) hub = i;
  // 2. from it
  const kernels::BfsState found{
      graph_.vertices(), nullptr,         labels_.data(), frontier_.data(),
      bits_.data(),      settled_.data(), nullptr,        schedule_->workspace()};
  reach(graph_, *schedule_, found, bits_, static_cast<Vertex>(hubs[hub + 1]), clock);
  kernels::components_start_with(state, bits_.data(), stream);
  return kernels::list_vertices(bits_.data(), false, graph_.vertices(), frontier_.data(),
                                schedule_->workspace(), stream);
}

std::uint64_t Components::sample(kernels::ComponentsState& state, std::uint32_t rounds,
                                 StepClock& clock) {
  const Stream stream = graph_.stream();
  const std::uint64_t n = graph_.vertices();
  // 1. the first edges of every list, a sector of the link each
  clock.begin();
  const double share = std::min(
      1.0, 32.0 * static_cast<double>(n) /
               (sizeof(Vertex) * static_cast<double>(std::max<std::uint64_t>(graph_.edges(), 1))));
  const LevelWork sampled = schedule_->sweep(graph_.out(), share, [&](const SweepWork& work) {
    state.neighbours = work.neighbours;
    kernels::components_sample(state, work.pass, rounds, work.blocks, stream);
  });
  join(state);
  // 2. who is outside of the greatest component
  const Vertex greatest = kernels::components_most_frequent(state, stream);
  const std::uint64_t count = kernels::components_outside(state, greatest, stream);
  clock.end(n, sampled);
  return count;
}

ComponentsResult Components::run(const ComponentsOptions& options, const Watch& watch) {
  const Stream stream = graph_.stream();
  const std::uint64_t n = graph_.vertices();
  kernels::ComponentsState state{n,
                                 graph_.out().offsets.data(),
                                 nullptr,
                                 labels_.data(),
                                 frontier_.data(),
                                 bits_.data(),
                                 schedule_->workspace()};
  schedule_->set(options.schedule);
  ComponentsResult result;
  StepClock clock(graph_, watch);
  kernels::components_start(state, stream);
  if (options.method != ComponentsOptions::Method::label_propagation) {
    // 1. most of the greatest component
    std::uint64_t count = n;
    if (options.method == ComponentsOptions::Method::multistep && graph_.edges() > 0) {
      count = search(state, clock);
      const std::uint64_t left = schedule_->count(
          graph_.out(), graph_.own(frontier_.data(), count, schedule_->workspace()));
      if (graph_.exchange().sum(left) > graph_.edges() / 4)
        count = sample(state, options.rounds, clock);
    } else {
      count = sample(state, options.rounds, clock);
    }
    // 2. all edges of those outside
    clock.begin();
    const LevelWork rest = count > 0 ? along_all(state, count, true) : LevelWork{};
    if (count > 0) join(state);
    graph_.engine().synchronize(stream);
    clock.end(count, rest);
  } else {
    while (const std::uint64_t count = kernels::components_changed(state, stream)) {
      clock.begin();
      const LevelWork did = along_all(state, count, false);
      graph_.exchange().lower(labels_);
      graph_.exchange().unite(bits_);
      if (watch) graph_.engine().synchronize(stream);
      clock.end(count, did);
    }
  }
  graph_.engine().synchronize(stream);
  graph_.check_unchanged();
  result.totals = clock.totals();
  if (graph_.exchange().part() > 0) return result;
  result.labels.resize(n);
  labels_.store(result.labels);
  for (std::uint64_t v = 0; v < n; ++v) result.components += result.labels[v] == v;
  return result;
}

}  // namespace holdall::graph
