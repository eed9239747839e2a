// Weights for a graph that has none.
#pragma once

#include "apps/graph/csr.hpp"

namespace holdall::graph {

// Gives every edge a weight from 1 to 255, uniform, as the GAP benchmark suite has them; floats:
// the same plus a fraction. It depends on the seed and the two vertices alone: both directions of
// an undirected edge, and repeated edges, weigh the same.
void add_weights(Csr& csr, Weights kind = Weights::int32, std::uint64_t seed = 1);

}  // namespace holdall::graph
