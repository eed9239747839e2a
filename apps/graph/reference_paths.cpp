// The serial answers about paths: distances and betweenness.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <queue>
#include <utility>

#include "apps/graph/error.hpp"
#include "apps/graph/reference.hpp"

namespace holdall::graph {

namespace {

constexpr std::uint32_t no_path = 0xffffffff;

// Float distances are done in floats, so that sums round as they do everywhere.
template <typename Distance, typename FromBits>
std::vector<Distance> dijkstra(const Csr& csr, std::uint64_t source, Distance infinite,
                               FromBits from_bits) {
  std::vector<Distance> distances(csr.vertices(), infinite);
  using Entry = std::pair<Distance, Vertex>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  distances[source] = 0;
  queue.push({Distance{0}, static_cast<Vertex>(source)});
  while (!queue.empty()) {
    const auto [distance, v] = queue.top();
    queue.pop();
    if (distance > distances[v]) continue;
    for (std::uint64_t e = csr.out.offsets[v]; e < csr.out.offsets[v + 1]; ++e) {
      const Distance path = distance + from_bits(csr.out.weights[e]);
      Distance& its = distances[csr.out.neighbours[e]];
      if (path >= its) continue;
      its = path;
      queue.push({path, csr.out.neighbours[e]});
    }
  }
  return distances;
}

std::string words(std::uint32_t distance, bool floating) {
  if (distance == no_path) return "not reached";
  return floating ? fmt::format("at {:g}", std::bit_cast<float>(distance))
                  : fmt::format("at {}", distance);
}

}  // namespace

std::vector<std::uint32_t> reference_sssp(const Csr& csr, std::uint64_t source) {
  if (source >= csr.vertices())
    throw GraphError(fmt::format("there is no vertex {}: the graph has {}, numbered from 0", source,
                                 csr.vertices()));
  if (csr.weights == Weights::none) throw GraphError("the graph has no weights");
  std::vector<std::uint32_t> bits(csr.vertices(), no_path);
  if (csr.weights == Weights::float32) {
    const float infinite = HUGE_VALF;
    const auto distances = dijkstra<float>(
        csr, source, infinite, [](std::uint32_t weight) { return std::bit_cast<float>(weight); });
    for (std::uint64_t v = 0; v < csr.vertices(); ++v)
      if (distances[v] != infinite) bits[v] = std::bit_cast<std::uint32_t>(distances[v]);
    return bits;
  }
  const std::uint64_t infinite = ~std::uint64_t{0};
  const auto distances = dijkstra<std::uint64_t>(
      csr, source, infinite, [](std::uint32_t weight) { return std::uint64_t{weight}; });
  for (std::uint64_t v = 0; v < csr.vertices(); ++v)
    if (distances[v] < no_path) bits[v] = static_cast<std::uint32_t>(distances[v]);
  return bits;
}

std::optional<std::string> verify_distances(const Csr& csr, std::uint64_t source,
                                            std::span<const std::uint32_t> distances) {
  if (distances.size() != csr.vertices())
    return fmt::format("{} values for {} vertices", distances.size(), csr.vertices());
  const std::vector<std::uint32_t> right = reference_sssp(csr, source);
  const bool floating = csr.weights == Weights::float32;
  for (std::uint64_t v = 0; v < csr.vertices(); ++v)
    if (distances[v] != right[v])
      return fmt::format("vertex {} is {}, not {}", v, words(right[v], floating),
                         words(distances[v], floating));
  return {};
}

std::vector<double> reference_centrality(const Csr& csr, std::span<const Vertex> sources) {
  const std::uint64_t n = csr.vertices();
  std::vector<double> scores(n, 0.0), paths(n), dependencies(n);
  for (const Vertex source : sources) {
    const std::vector<std::uint32_t> depths = reference_bfs(csr, source);
    std::vector<Vertex> order;
    for (std::uint64_t v = 0; v < n; ++v)
      if (depths[v] != unreached) order.push_back(static_cast<Vertex>(v));
    std::ranges::stable_sort(order, {}, [&](Vertex v) { return depths[v]; });
    std::ranges::fill(paths, 0.0);
    std::ranges::fill(dependencies, 0.0);
    paths[source] = 1;
    for (const Vertex v : order)
      for (const Vertex to : csr.out.of(v))
        if (depths[to] == depths[v] + 1) paths[to] += paths[v];
    for (auto v = order.rbegin(); v != order.rend(); ++v) {
      for (const Vertex to : csr.out.of(*v))
        if (depths[to] == depths[*v] + 1)
          dependencies[*v] += paths[*v] / paths[to] * (1 + dependencies[to]);
      if (*v != source) scores[*v] += dependencies[*v];
    }
  }
  return scores;
}

std::optional<std::string> compare_centrality(std::span<const double> scores,
                                              std::span<const double> reference, double relative) {
  if (scores.size() != reference.size())
    return fmt::format("{} scores, not {}", scores.size(), reference.size());
  for (std::size_t v = 0; v < scores.size(); ++v)
    if (!(std::abs(scores[v] - reference[v]) <= relative * std::abs(reference[v])))
      return fmt::format("vertex {} has the score {:g}, not {:g}", v, scores[v], reference[v]);
  return {};
}

}  // namespace holdall::graph
