#include "apps/graph/sources.hpp"

#include <algorithm>
#include <random>
#include <span>

#include "apps/graph/error.hpp"

namespace holdall::graph {

std::vector<Vertex> pick_sources(const PagedGraph& graph, std::uint64_t count, std::uint64_t seed) {
  if (graph.edges() == 0) throw GraphError("no vertex has edges, so there is none to start from");
  std::mt19937_64 random(seed);
  std::vector<Vertex> sources;
  std::uint64_t ends[2] = {};
  // Found by an edge where vertices with edges are few.
  for (std::uint64_t tries = 0; sources.size() < count; ++tries) {
    std::uint64_t v = random() % graph.vertices();
    if (tries > 1000 * count) {
      const std::uint64_t edge = random() % graph.edges() - graph.out().first_edge;
      v = 0;
      if (edge < graph.out().edges) {  // this part's
        std::vector<std::uint64_t> offsets(graph.vertices() + 1);
        graph.out().offsets.store(offsets);
        v = static_cast<std::uint64_t>(std::ranges::upper_bound(offsets, edge) - offsets.begin()) -
            1;
      }
      v = graph.exchange().sum(v);
    }
    graph.out().offsets.store(ends, v);
    if (graph.exchange().sum(ends[1] - ends[0]) > 0) sources.push_back(static_cast<Vertex>(v));
  }
  return sources;
}

}  // namespace holdall::graph
