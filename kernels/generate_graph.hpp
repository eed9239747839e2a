// Makes a random graph where it will be used, in memory: undirected, without loops or duplicates,
// lists ascending. For benchmarks and tests of graphs that fit; of scale 32 at most.
#pragma once

#include <cstdint>

#include "engine/vmm/stream.hpp"
#include "kernels/device_array.hpp"
#include "kernels/random_edge.hpp"

namespace holdall::kernels {

struct GeneratedGraph {
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;             // entries of neighbours: two for each edge
  DeviceArray<std::uint64_t> offsets;  // [vertices + 1]
  DeviceArray<Vertex> neighbours;      // [edges]
};

// Waits. Takes 32 bytes of the device's memory for each of graph.edges() meanwhile.
// Throws DriverError (out_of_memory); Error if `stream` is a GPU's and the library was built
// without CUDA.
GeneratedGraph generate_graph(const RandomGraph& graph, Stream stream);

}  // namespace holdall::kernels
