// Answers to compare with: plain serial algorithms, and the checks of the GAP benchmark suite.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/graph/csr.hpp"

namespace holdall::graph {

// Depth of a vertex that the source does not reach; parent of one.
constexpr std::uint32_t unreached = 0xffffffff;

// Edges from `source` to each vertex on a shortest path; `unreached`.
// Throws GraphError if there is no such source.
std::vector<std::uint32_t> reference_bfs(const Csr& csr, std::uint64_t source);

// The checks answer nothing where all is right, else the first thing that is wrong, in words.

std::optional<std::string> verify_depths(const Csr& csr, std::uint64_t source,
                                         std::span<const std::uint32_t> depths);

// GAP's rules: the source is its own parent; every other parent has an edge to its child and is one
// nearer to the source; exactly the reachable vertices have one.
std::optional<std::string> verify_parents(const Csr& csr, std::uint64_t source,
                                          std::span<const Vertex> parents);

struct PageRankOptions {
  double damping = 0.85;
  int iterations = 20;      // at most
  double tolerance = 1e-4;  // stop once the sum of |new - old| is below it; 0: never
};
struct PageRank {
  std::vector<double> scores;
  int iterations = 0;
  double error = 0;  // sum of |new - old| of the last iteration
};

// score(v) = (1 - d) / n + d * sum over u -> v of score(u) / out-degree(u), all from the scores of
// the iteration before, from 1 / n on. What vertices without an edge out hold is not handed on, as
// in GAP; so scores may sum to less than 1.
PageRank reference_pagerank(const Csr& csr, const PageRankOptions& options = {});

// GAP's rule: one more iteration changes the scores by less than `tolerance` in all.
std::optional<std::string> verify_pagerank(const Csr& csr, std::span<const float> scores,
                                           double tolerance, double damping = 0.85);

// Against the reference after the same number of iterations: each |a - b| at most
// `relative` * b. Single precision sums over long lists reach about 1e-4.
std::optional<std::string> compare_scores(std::span<const float> scores,
                                          std::span<const double> reference, double relative);

// The smallest vertex of each one's component, edges taken as undirected.
std::vector<Vertex> reference_components(const Csr& csr);

// GAP's rule: two vertices have the same label if and only if they are connected.
std::optional<std::string> verify_components(const Csr& csr, std::span<const Vertex> labels);

// Dijkstra's distances, as bits where weights are floats; 0xffffffff where there is no path. Throws
// GraphError if there is no such source or the graph has no weights.
std::vector<std::uint32_t> reference_sssp(const Csr& csr, std::uint64_t source);

// GAP's rule: every distance is the same. Floats too: the shortest sum is the same in any order of
// work.
std::optional<std::string> verify_distances(const Csr& csr, std::uint64_t source,
                                            std::span<const std::uint32_t> distances);

// Brandes, the sum over the sources, not normalised.
std::vector<double> reference_centrality(const Csr& csr, std::span<const Vertex> sources);
std::optional<std::string> compare_centrality(std::span<const double> scores,
                                              std::span<const double> reference, double relative);

// Of an undirected graph; repeated edges count once.
std::uint64_t reference_triangles(const Csr& csr);

// Of an undirected graph; the degree is the length of the list.
std::vector<std::uint32_t> reference_cores(const Csr& csr);
std::optional<std::string> verify_cores(const Csr& csr, std::span<const std::uint32_t> cores);

}  // namespace holdall::graph
