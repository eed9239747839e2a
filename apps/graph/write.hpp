// From a graph in memory to a file.
#pragma once

#include <filesystem>

#include "apps/graph/csr.hpp"
#include "apps/graph/load.hpp"

namespace holdall::graph {

enum class Output {
  hold,           // .hold
  serialized,     // .sg: up to 2^31 vertices
  text,           // .el, .txt: `from to` lines; an undirected edge once, the smaller id first
  matrix_market,  // .mtx: pattern; general, or symmetric (lower triangle) where undirected
};

// By the name's ending. Throws GraphError, with the endings there are, for any other.
Output output_of(const std::filesystem::path& path);

// Writes beside `path` and renames when all is written, so that there is never half a file.
// Text formats lose vertices past the last one with an edge (.el, .txt) and original ids.
// Throws GraphError, also when the disk is full.
void write_graph(const Csr& csr, const std::filesystem::path& path, Output output);
inline void write_graph(const Csr& csr, const std::filesystem::path& path) {
  write_graph(csr, path, output_of(path));
}

// load_graph, then write_graph; a bad output name fails before anything is read.
void convert(const std::filesystem::path& from, const std::filesystem::path& to,
             const LoadOptions& options = {}, LoadReport* report = nullptr);

}  // namespace holdall::graph
