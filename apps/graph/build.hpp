// From edges to a graph.
#pragma once

#include <cstdint>
#include <functional>

#include "apps/graph/csr.hpp"
#include "apps/graph/edges.hpp"

namespace holdall::graph {

// Told how far a long job is, by any of its threads.
using Progress = std::function<void(std::uint64_t done, std::uint64_t whole)>;

struct BuildOptions {
  bool symmetrize = false;         // an undirected graph: each edge counts both ways
  bool deduplicate = false;        // keep one of equal edges, that of the least weight
  bool remove_self_loops = false;  // drop edges from a vertex to itself
  // The most memory that the graph may take, while it is built too; 0: what the machine has free.
  Bytes memory = 0;
  Progress progress = {};
};

// Reads `source` twice (degrees, then neighbours) and sorts each list, in parallel. The result does
// not depend on the number of threads. Memory: the graph as it is before duplicates go, once, and
// 8 bytes a vertex; with weights also 8 bytes an edge of the longest list. A directed graph's
// transpose comes after that.
// Throws GraphError where that exceeds `options.memory`, or there are no vertices.
Csr build_csr(const EdgeSource& source, const BuildOptions& options = {});

// Memory that this process could still use: the machine's or its control group's, the less.
Bytes available_memory();

}  // namespace holdall::graph
