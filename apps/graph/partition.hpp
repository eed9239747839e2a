// Cuts the vertices of a graph into ranges whose edges take about the same room.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace holdall::graph {

// The bounds of `parts` ranges: part p has the vertices [bounds[p], bounds[p + 1]), maybe none. A
// list is never cut. Of the offsets of out- and in-edges, one may be empty.
std::vector<std::uint64_t> cut_vertices(std::span<const std::uint64_t> out_offsets,
                                        std::span<const std::uint64_t> in_offsets, int parts);

}  // namespace holdall::graph
