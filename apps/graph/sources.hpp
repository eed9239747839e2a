// Sources for a batch of searches, as the GAP benchmark suite picks them.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/graph/paged_graph.hpp"

namespace holdall::graph {

// `count` vertices that have out-edges, drawn by the seed, repeats allowed. Throws GraphError where
// no vertex has any.
std::vector<Vertex> pick_sources(const PagedGraph& graph, std::uint64_t count,
                                 std::uint64_t seed = 27491095);

}  // namespace holdall::graph
