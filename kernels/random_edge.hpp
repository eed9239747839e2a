// The edges of random graphs, one by one: edge i is a pure function of the graph's seed and i, in
// integers alone, so that a graph is the same on every machine and driver, for any number of
// threads.
//
// The parameters are those of the GAP benchmark suite (Beamer, Asanovic, Patterson,
// arXiv:1508.03619); the randomness is our own.
#pragma once

#include <cstdint>

#include "kernels/vertex.hpp"

namespace holdall::kernels {

constexpr unsigned most_scale = sizeof(Vertex) == 4 ? 32 : 40;

struct RandomGraph {
  enum class Kind {
    kron,   // R-MAT with A = .57, B = C = .19 (Graph500), vertices relabelled at random
    urand,  // both ends uniform
  } kind = Kind::kron;
  unsigned scale = 1;              // 2^scale vertices; 1 to most_scale
  std::uint64_t edge_factor = 16;  // edges drawn a vertex
  std::uint64_t seed = 1;

  constexpr std::uint64_t vertices() const { return std::uint64_t{1} << scale; }
  constexpr std::uint64_t edges() const { return edge_factor << scale; }
};

struct RandomEdge {
  Vertex from = 0;
  Vertex to = 0;
};

namespace random {

constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;

// The finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): 64 well mixed bits of any 64.
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// Word `k` of the random words of edge `i`.
constexpr std::uint64_t word(const RandomGraph& graph, std::uint64_t i, std::uint64_t k) {
  return mix(mix(mix(graph.seed + golden) + i * golden) + (k + 1) * golden);
}

// A permutation of the numbers of `scale` bits: each step (an odd factor, a shift folded back) can
// be undone.
constexpr std::uint64_t relabel(std::uint64_t v, const RandomGraph& graph) {
  const std::uint64_t mask = graph.vertices() - 1;
  for (std::uint64_t round = 0; round < 4; ++round) {
    const std::uint64_t key = mix(~graph.seed + round * golden);
    v = ((v ^ (key >> 32)) * (key | 1)) & mask;
    v ^= v >> ((graph.scale + 1) / 2);
  }
  return v;
}

// Where a level's draw of 32 bits falls: A, then B, then C, then the rest.
constexpr std::uint64_t percent(std::uint64_t n) { return (n << 32) / 100; }
constexpr std::uint64_t to_a = percent(57);
constexpr std::uint64_t to_b = percent(57 + 19);
constexpr std::uint64_t to_c = percent(57 + 19 + 19);

}  // namespace random

// Edge i of graph.edges().
constexpr RandomEdge random_edge(const RandomGraph& graph, std::uint64_t i) {
  if (graph.kind == RandomGraph::Kind::urand) {
    const std::uint64_t word = random::word(graph, i, 0);
    if (graph.scale > 32) {
      const unsigned drop = 64 - graph.scale;
      return {static_cast<Vertex>(word >> drop),
              static_cast<Vertex>(random::word(graph, i, 1) >> drop)};
    }
    const unsigned drop = 32 - graph.scale;
    return {static_cast<Vertex>(word >> 32 >> drop),
            static_cast<Vertex>((word & 0xffffffff) >> drop)};
  }
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint64_t word = 0;
  for (unsigned level = 0; level < graph.scale; ++level) {
    word = level % 2 == 0 ? random::word(graph, i, level / 2) : word >> 32;
    const std::uint64_t draw = word & 0xffffffff;
    const bool past_a = draw >= random::to_a;
    const bool past_b = draw >= random::to_b;
    const bool past_c = draw >= random::to_c;
    from = from << 1 | (past_b ? 1 : 0);
    to = to << 1 | ((past_a != past_b) != past_c ? 1 : 0);
  }
  return {static_cast<Vertex>(random::relabel(from, graph)),
          static_cast<Vertex>(random::relabel(to, graph))};
}

}  // namespace holdall::kernels
