#include "apps/graph/triangles.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "apps/graph/error.hpp"
#include "apps/graph/step_clock.hpp"

namespace holdall::graph {

namespace {

// Vertices whose lists are leased together.
struct Group {
  kernels::VertexSpan vertices;
  kernels::EdgeSpan edges;
};

// As many lists to a group as lie in so many chunks, one at the least.
std::vector<Group> groups_of(const std::vector<std::uint64_t>& offsets, Bytes chunk_bytes,
                             std::uint64_t chunks) {
  const std::uint64_t chunk_edges = chunk_bytes / sizeof(Vertex);
  const std::uint64_t vertices = offsets.size() - 1;
  std::vector<Group> groups;
  for (std::uint64_t first = 0; first < vertices;) {
    const std::uint64_t past = (offsets[first] / chunk_edges + chunks) * chunk_edges;
    // The last offset within.
    const auto found = std::upper_bound(offsets.begin() + static_cast<std::ptrdiff_t>(first) + 1,
                                        offsets.end(), past);
    const auto end =
        std::max<std::uint64_t>(static_cast<std::uint64_t>(found - offsets.begin()) - 1, first + 1);
    if (offsets[end] > offsets[first])
      groups.push_back({{first, end}, {offsets[first], offsets[end] - offsets[first]}});
    first = end;
  }
  return groups;
}

// A lease on a group while one on another of `other` edges is held.
Lease beside(Engine& engine, Stream stream, const Access& group, std::uint64_t other) {
  try {
    return engine.acquire(stream, {group});
  } catch (const WouldDeadlock&) {
    const Bytes needed = engine.leased() + group.bytes;
    throw WorkingSetTooLarge(
        fmt::format(
            "triangles need the lists of two groups of vertices in memory at once: {} and {}, "
            "with all else {}; the memory budget is {}: raise it (--memory)",
            holdall::to_string(other * sizeof(Vertex)), holdall::to_string(group.bytes),
            holdall::to_string(needed), holdall::to_string(engine.memory())),
        needed, engine.memory());
  }
}

}  // namespace

Triangles::Triangles(const PagedGraph& graph) : graph_(graph) {
  if (graph.directed())
    throw GraphError("triangles are counted in undirected graphs: read it with --symmetrize");
  VertexData data(graph, "triangles");
  count_ = data.array<std::uint64_t>(1, "triangles");
  lease_ = data.lease(graph.out().neighbours.chunk_bytes());
}

TrianglesResult Triangles::run(const Watch& watch) {
  Engine& engine = graph_.engine();
  const Stream stream = graph_.stream();
  const PagedAdjacency& edges = graph_.out();
  TrianglesResult result;
  StepClock clock(graph_, watch);
  // 1. groups: half of what is free for those that wait, the rest for two that come and go
  std::vector<std::uint64_t> offsets(graph_.vertices() + 1);
  engine.store(edges.offsets.range(), 0, std::span<std::uint64_t>(offsets));
  const Bytes chunk_bytes = edges.neighbours.chunk_bytes();
  const Bytes budget = engine.memory();
  const std::uint64_t chunks = (budget - std::min(budget, engine.leased())) / chunk_bytes;
  const auto waiting = groups_of(offsets, chunk_bytes, std::max<std::uint64_t>(chunks / 2, 1));
  const auto passing = groups_of(offsets, chunk_bytes, std::max<std::uint64_t>(chunks / 6, 1));
  // 2. every two of which the one can have a vertex above one of the other's
  const std::uint64_t none = 0;
  count_.load(std::span(&none, 1));
  const kernels::TrianglesState state{graph_.vertices(), edges.offsets.data(),
                                      edges.neighbours.data(), count_.data()};
  const auto need = [&](const Group& group) {
    return read(edges.neighbours, group.edges.first, group.edges.count);
  };
  for (const Group& upper : waiting) {
    clock.begin();
    LevelWork did;
    const Lease upper_lease = engine.acquire(stream, {need(upper)});
    for (std::size_t i = 0; i < passing.size() && passing[i].vertices.first < upper.vertices.end;
         ++i) {
      const Group& lower = passing[i];
      const Lease lower_lease = beside(engine, stream, need(lower), upper.edges.count);
      if (i + 1 < passing.size() && passing[i + 1].vertices.first < upper.vertices.end)
        engine.prefetch({need(passing[i + 1])});
      kernels::count_triangles(state, upper.vertices, upper.edges, lower.vertices, stream);
      did.edges += lower.edges.count;
    }
    if (watch) engine.synchronize(stream);
    clock.end(upper.vertices.end - upper.vertices.first, did);
  }
  engine.synchronize(stream);
  graph_.check_unchanged();
  result.totals = clock.totals();
  count_.store(std::span(&result.triangles, 1));
  return result;
}

}  // namespace holdall::graph
