#include "apps/graph/relabel.hpp"

#include <fmt/format.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_sort.h>

#include <atomic>
#include <limits>

#include "apps/graph/error.hpp"

namespace holdall::graph {

DegreeEdges::DegreeEdges(const EdgeSource& source, Bytes memory) : source_(source) {
  const std::uint64_t vertices = source.vertices();
  if (vertices * 12 > memory)
    throw GraphError(
        fmt::format("relabelling {} vertices needs {} of memory, and {} may be used; allow more",
                    vertices, holdall::to_string(vertices * 12), holdall::to_string(memory)));
  // Degrees past 2^31 count as that, more or less: their order is of no matter.
  auto degrees = Array<std::uint32_t>::zeros(vertices);
  tbb::enumerable_thread_specific<EdgeScratch> scratch;
  const auto count = [&](Vertex v) {
    const std::atomic_ref degree(degrees[v]);
    if (degree.load(std::memory_order_relaxed) < std::numeric_limits<std::uint32_t>::max() / 2)
      degree.fetch_add(1, std::memory_order_relaxed);
  };
  tbb::parallel_for(std::uint64_t{0}, source.blocks(), [&](std::uint64_t block) {
    for (const auto [from, to] : source.read(block, scratch.local()).edges) count(from), count(to);
  });
  order_ = Array<Vertex>::uninitialized(vertices);
  rank_ = Array<Vertex>::uninitialized(vertices);
  for (std::uint64_t v = 0; v < vertices; ++v) order_[v] = static_cast<Vertex>(v);
  tbb::parallel_sort(order_.begin(), order_.end(), [&](Vertex a, Vertex b) {
    return degrees[a] != degrees[b] ? degrees[a] > degrees[b] : a < b;
  });
  for (std::uint64_t i = 0; i < vertices; ++i) rank_[order_[i]] = static_cast<Vertex>(i);
}

EdgeBlock DegreeEdges::read(std::uint64_t block, EdgeScratch& scratch) const {
  const auto [edges, weights] = source_.read(block, scratch);
  std::vector<Edge>& ranked = scratch.edges;
  if (edges.data() < ranked.data() || edges.data() >= ranked.data() + ranked.size())
    ranked.resize(edges.size());
  for (std::size_t i = 0; i < edges.size(); ++i)
    ranked[i] = {rank_[edges[i].from], rank_[edges[i].to]};
  return {std::span(ranked).first(edges.size()), weights};
}

}  // namespace holdall::graph
