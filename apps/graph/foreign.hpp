// Binary formats of other programs that have no mark at their start. They are told by whether the
// counts at their start add up to the length of the file. None can be paged in place.
#pragma once

#include <memory>
#include <optional>

#include "apps/graph/binary_edges.hpp"
#include "apps/graph/graph_file.hpp"

namespace holdall::graph {

// .wsg of the GAP benchmark suite: as .sg, with pairs of neighbour and weight for neighbours.
std::optional<BinaryGraph> open_weighted_serialized(std::shared_ptr<const File> file);

// .gr of Galois, versions 1 and 2: 64-bit version, bytes of a weight (0: none), vertices and edges;
// the 64-bit ends of the lists; neighbours of 32 or 64 bits, filled up to 8 bytes; weights.
std::optional<BinaryGraph> open_galois(std::shared_ptr<const File> file);

// .bcsr and .bwcsr of Subway: 32-bit vertices and edges; the 32-bit begins of the lists; 32-bit
// neighbours, or pairs of neighbour and weight.
std::optional<BinaryGraph> open_subway(std::shared_ptr<const File> file);

// .bel of EMOGI: NAME.col with offsets, NAME.dst with neighbours and, where there are weights,
// NAME.val; each a 64-bit count, 8 bytes more, and numbers, of 64 bits but for weights. `path` may
// be NAME or any of them. Throws GraphError where the files disagree.
std::optional<BinaryGraph> open_emogi(const std::filesystem::path& path);

// The file that stands for the graph at `path`: NAME.col for EMOGI's NAME, else `path` itself.
std::filesystem::path file_of(const std::filesystem::path& path);

// What `path` begins as but is not whole: throws GraphError saying so, if it looks like any.
void refuse_cut(const File& file);

}  // namespace holdall::graph
