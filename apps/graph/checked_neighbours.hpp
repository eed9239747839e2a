// Neighbours that stay in their file, each checked when it is first brought in: kernels index by
// them without looking.
#pragma once

#include "apps/graph/graph_file.hpp"
#include "engine/backing.hpp"

namespace holdall::graph {

// The backing of a range of file.out.neighbours or file.in.neighbours. Reading throws GraphError
// with the byte of an id outside the vertices, BackingError where the file ends before. The same
// for their weights, none of which may be negative.
// Throws BackingError if the file is missing or too short.
BackingSpec checked_neighbours(const GraphFile& file, const FileArray& neighbours);
BackingSpec checked_weights(const GraphFile& file, const FileArray& weights);

}  // namespace holdall::graph
