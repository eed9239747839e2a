// From a graph in memory to a file.
#pragma once

#include <filesystem>

#include "apps/graph/csr.hpp"
#include "apps/graph/load.hpp"

namespace holdall::graph {

enum class Output {
  hold,                 // .hold
  serialized,           // .sg: up to 2^31 vertices
  weighted_serialized,  // .wsg: the same
  text,                 // .txt: `from to` lines, `from to weight` where there are weights
  edge_list,            // .el: `from to`
  weighted_edge_list,   // .wel: `from to weight`
  matrix_market,        // .mtx: general, or symmetric (lower triangle) where undirected
  subway,               // .bcsr: fewer than 2^32 vertices and edges
  weighted_subway,      // .bwcsr: the same
  emogi,                // .bel: three files, see foreign.hpp
};

// Output by the name's ending. Throws GraphError, with the endings there are, for any other.
Output output_of(const std::filesystem::path& path);

// Writes beside `path` and renames when all is written, so that there is never half a file.
// An undirected edge is a line once, the smaller id first; in .bcsr, .bwcsr and .bel, which say
// nothing of directions, it is two edges. Lost are vertices past the last one with an edge (.txt,
// .el, .wel), original ids in all formats but .hold, and weights in .sg, .el and .bcsr.
// Throws GraphError, also when the disk is full, for a graph that the format cannot hold, and for
// one without weights where the format is for such.
void write_graph(const Csr& csr, const std::filesystem::path& path, Output output);
inline void write_graph(const Csr& csr, const std::filesystem::path& path) {
  write_graph(csr, path, output_of(path));
}

// load_graph, then write_graph; a bad output name fails before anything is read.
void convert(const std::filesystem::path& from, const std::filesystem::path& to,
             const LoadOptions& options = {}, LoadReport* report = nullptr);

}  // namespace holdall::graph
