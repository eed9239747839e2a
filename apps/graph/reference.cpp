#include "apps/graph/reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/graph/error.hpp"

namespace holdall::graph {

namespace {

void check_source(const Csr& csr, std::uint64_t source) {
  if (source >= csr.vertices())
    throw GraphError(fmt::format("there is no vertex {}: the graph has {}, numbered from 0", source,
                                 csr.vertices()));
}

std::string words(std::uint32_t depth) {
  return depth == unreached ? "unreached" : fmt::format("at depth {}", depth);
}

std::optional<std::string> check_count(const Csr& csr, std::uint64_t count) {
  if (count == csr.vertices()) return {};
  return fmt::format("{} values for {} vertices", count, csr.vertices());
}

// One iteration from `scores`, pushed along the edges.
template <typename Score>
std::vector<double> push(const Csr& csr, std::span<const Score> scores, double damping) {
  const auto vertices = static_cast<double>(csr.vertices());
  std::vector<double> next(csr.vertices(), 0.0);
  for (std::uint64_t v = 0; v < csr.vertices(); ++v) {
    if (csr.out.degree(v) == 0) continue;
    const double share = static_cast<double>(scores[v]) / static_cast<double>(csr.out.degree(v));
    for (const Vertex to : csr.out.of(v)) next[to] += share;
  }
  for (double& score : next) score = (1 - damping) / vertices + damping * score;
  return next;
}

}  // namespace

std::vector<std::uint32_t> reference_bfs(const Csr& csr, std::uint64_t source) {
  check_source(csr, source);
  std::vector<std::uint32_t> depths(csr.vertices(), unreached);
  std::vector<Vertex> frontier{static_cast<Vertex>(source)}, next;
  depths[source] = 0;
  for (std::uint32_t depth = 1; !frontier.empty(); ++depth) {
    for (const Vertex v : frontier)
      for (const Vertex to : csr.out.of(v))
        if (depths[to] == unreached) {
          depths[to] = depth;
          next.push_back(to);
        }
    frontier.swap(next);
    next.clear();
  }
  return depths;
}

std::optional<std::string> verify_depths(const Csr& csr, std::uint64_t source,
                                         std::span<const std::uint32_t> depths) {
  if (auto wrong = check_count(csr, depths.size())) return wrong;
  const std::vector<std::uint32_t> right = reference_bfs(csr, source);
  for (std::uint64_t v = 0; v < csr.vertices(); ++v)
    if (depths[v] != right[v])
      return fmt::format("vertex {} is {}, not {}", v, words(right[v]), words(depths[v]));
  return {};
}

std::optional<std::string> verify_parents(const Csr& csr, std::uint64_t source,
                                          std::span<const Vertex> parents) {
  if (auto wrong = check_count(csr, parents.size())) return wrong;
  const std::vector<std::uint32_t> depths = reference_bfs(csr, source);
  for (std::uint64_t v = 0; v < csr.vertices(); ++v) {
    const Vertex parent = parents[v];
    if (depths[v] == unreached) {
      if (parent != kernels::no_vertex)
        return fmt::format("vertex {} is unreached and has the parent {}", v, parent);
    } else if (v == source) {
      if (parent != source)
        return fmt::format("the source {} has the parent {}, not itself", v, parent);
    } else if (parent == kernels::no_vertex) {
      return fmt::format("vertex {}, {}, has no parent", v, words(depths[v]));
    } else if (parent >= csr.vertices()) {
      return fmt::format("vertex {} has the parent {}, which does not exist", v, parent);
    } else if (!std::ranges::binary_search(csr.out.of(parent), static_cast<Vertex>(v))) {
      return fmt::format("vertex {} has the parent {}, which has no edge to it", v, parent);
    } else if (depths[parent] != depths[v] - 1) {
      return fmt::format("vertex {}, {}, has the parent {}, {}", v, words(depths[v]), parent,
                         words(depths[parent]));
    }
  }
  return {};
}

PageRank reference_pagerank(const Csr& csr, const PageRankOptions& options) {
  PageRank result;
  result.scores.assign(csr.vertices(), 1.0 / static_cast<double>(csr.vertices()));
  while (result.iterations < options.iterations) {
    std::vector<double> next = push<double>(csr, result.scores, options.damping);
    result.error = 0;
    for (std::uint64_t v = 0; v < csr.vertices(); ++v)
      result.error += std::abs(next[v] - result.scores[v]);
    result.scores.swap(next);
    ++result.iterations;
    if (result.error < options.tolerance) break;
  }
  return result;
}

std::optional<std::string> verify_pagerank(const Csr& csr, std::span<const float> scores,
                                           double tolerance, double damping) {
  if (auto wrong = check_count(csr, scores.size())) return wrong;
  const std::vector<double> next = push(csr, scores, damping);
  double error = 0;
  for (std::uint64_t v = 0; v < csr.vertices(); ++v)
    error += std::abs(next[v] - static_cast<double>(scores[v]));
  if (error < tolerance) return {};  // not so either if the error is no number
  return fmt::format("one more iteration changes the scores by {:g}, not by less than {:g}", error,
                     tolerance);
}

std::optional<std::string> compare_scores(std::span<const float> scores,
                                          std::span<const double> reference, double relative) {
  if (scores.size() != reference.size())
    return fmt::format("{} scores, not {}", scores.size(), reference.size());
  for (std::size_t v = 0; v < scores.size(); ++v) {
    const double difference = std::abs(static_cast<double>(scores[v]) - reference[v]);
    if (!(difference <= relative * std::abs(reference[v])))
      return fmt::format("vertex {} has the score {:g}, not {:g}", v, scores[v], reference[v]);
  }
  return {};
}

}  // namespace holdall::graph
