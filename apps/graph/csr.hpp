// Start here for graphs: a graph in memory, as compressed sparse rows.
//
// Vertices are 0 to vertices() - 1. The neighbours of v stand, ascending, in
// neighbours[offsets[v]] to neighbours[offsets[v + 1] - 1]. An *edge* here is one such entry: an
// undirected edge between two vertices makes two of them, an undirected self-loop one.
//
//   graph::Csr csr = graph::load_graph("roads.txt", {.symmetrize = true});     // load.hpp
//   graph::Csr kron = graph::generate(graph::parse_generator("kron:20"));      // generate.hpp
//   for (graph::Vertex to : csr.out.of(7)) ...
//   graph::GraphFile big = graph::open_graph("twitter.hold");                  // graph_file.hpp
//
// A finished graph is only read, by any number of threads.
#pragma once

#include <cstdint>
#include <span>

#include "apps/graph/array.hpp"
#include "engine/vmm/bytes.hpp"
#include "kernels/vertex.hpp"

namespace holdall::graph {

using Vertex = kernels::Vertex;  // 32 bits, or 64 in a build with -Dvertex_bits=64
// More would not fit ids of 32 bits; of 64, sizes in bytes would no longer fit.
constexpr std::uint64_t most_vertices = std::uint64_t{1} << (sizeof(Vertex) == 4 ? 32 : 48);

struct Adjacency {
  Array<std::uint64_t> offsets;  // vertices + 1 of them, from 0 to the number of edges
  Array<Vertex> neighbours;
  // Of each edge: an int32 that is not negative, or the bits of a float (Csr::weights says which).
  // Empty where the graph has no weights.
  Array<std::uint32_t> weights = {};

  std::uint64_t degree(std::uint64_t v) const { return offsets[v + 1] - offsets[v]; }
  std::span<const Vertex> of(std::uint64_t v) const {
    return {neighbours.data() + offsets[v], neighbours.data() + offsets[v + 1]};
  }
  Bytes bytes() const {
    return offsets.size() * sizeof(std::uint64_t) + neighbours.size() * sizeof(Vertex) +
           weights.size() * sizeof(std::uint32_t);
  }
};

enum class Weights : std::uint32_t { none, int32, float32 };
constexpr const char* to_string(Weights weights) {
  return weights == Weights::none ? "none" : weights == Weights::int32 ? "int32" : "float32";
}

// The bits of a weight that is one, a number that is not negative, are below this.
constexpr std::uint32_t weights_below(Weights weights) {
  return weights == Weights::float32 ? 0x7f80'0000 : 0x8000'0000;
}

struct Csr {
  bool directed = false;
  Weights weights = Weights::none;
  Adjacency out;
  Adjacency transposed;  // who points at v; empty where undirected: use in()
  // The id that each vertex had in its file, where ids were compacted; else empty.
  Array<Vertex> original_ids;

  std::uint64_t vertices() const { return out.offsets.empty() ? 0 : out.offsets.size() - 1; }
  std::uint64_t edges() const { return out.neighbours.size(); }
  const Adjacency& in() const { return directed ? transposed : out; }
};

// The transpose of `out`, weights too, in parallel. Memory: the result.
Adjacency transpose(const Adjacency& out);

// What `info` tells of a graph.
struct Summary {
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  std::uint64_t self_loops = 0;       // entries v among v's own neighbours
  std::uint64_t duplicates = 0;       // other entries that repeat an earlier one of the same list
  std::uint64_t isolated = 0;         // vertices without an edge in or out
  std::uint64_t dangling = 0;         // vertices without an edge out
  std::uint64_t greatest_degree = 0;  // out
};
Summary summarize(const Csr& csr);

}  // namespace holdall::graph
