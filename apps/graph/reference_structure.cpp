// The serial answers about structure: components, triangles, cores.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "apps/graph/reference.hpp"

namespace holdall::graph {

std::vector<Vertex> reference_components(const Csr& csr) {
  std::vector<Vertex> labels(csr.vertices(), kernels::no_vertex);
  std::vector<bool> seen(csr.vertices());
  std::vector<Vertex> stack;
  for (std::uint64_t root = 0; root < csr.vertices(); ++root) {
    if (seen[root]) continue;
    seen[root] = true;
    stack.push_back(static_cast<Vertex>(root));
    while (!stack.empty()) {
      const Vertex v = stack.back();
      stack.pop_back();
      labels[v] = static_cast<Vertex>(root);
      const auto follow = [&](const Adjacency& edges) {
        for (const Vertex to : edges.of(v)) {
          if (seen[to]) continue;
          seen[to] = true;
          stack.push_back(to);
        }
      };
      follow(csr.out);
      if (csr.directed) follow(csr.transposed);
    }
  }
  return labels;
}

std::optional<std::string> verify_components(const Csr& csr, std::span<const Vertex> labels) {
  if (labels.size() != csr.vertices())
    return fmt::format("{} values for {} vertices", labels.size(), csr.vertices());
  const std::vector<Vertex> right = reference_components(csr);
  std::unordered_map<Vertex, Vertex> component_of;  // by label
  for (std::uint64_t v = 0; v < csr.vertices(); ++v) {
    if (labels[v] != labels[right[v]])
      return fmt::format("vertices {} and {} are connected and have the labels {} and {}", right[v],
                         v, labels[right[v]], labels[v]);
    const auto [at, is_new] = component_of.try_emplace(labels[v], right[v]);
    if (at->second != right[v])
      return fmt::format("vertices {} and {} are not connected and both have the label {}",
                         at->second, v, labels[v]);
  }
  return {};
}

std::uint64_t reference_triangles(const Csr& csr) {
  // Each at its corner of the least degree, so that no list is long (Chiba, Nishizeki: Arboricity
  // and subgraph listing algorithms, 1985).
  const std::uint64_t n = csr.vertices();
  const auto rank = [&](std::uint64_t v) { return std::pair(csr.out.degree(v), v); };
  std::vector<std::uint64_t> begins{0};
  std::vector<Vertex> later;
  for (std::uint64_t u = 0; u < n; ++u) {
    for (const Vertex v : csr.out.of(u))
      if (rank(u) < rank(v) && (later.size() == begins[u] || later.back() != v)) later.push_back(v);
    begins.push_back(later.size());
  }
  const auto later_of = [&](std::uint64_t v) {
    return std::span(later).subspan(begins[v], begins[v + 1] - begins[v]);
  };
  std::uint64_t count = 0;
  std::vector<bool> of_u(n);
  for (std::uint64_t u = 0; u < n; ++u) {
    for (const Vertex v : later_of(u)) of_u[v] = true;
    for (const Vertex v : later_of(u))
      for (const Vertex w : later_of(v)) count += of_u[w];
    for (const Vertex v : later_of(u)) of_u[v] = false;
  }
  return count;
}

std::vector<std::uint32_t> reference_cores(const Csr& csr) {
  // Batagelj, Zaversnik: vertices in buckets by the degree that is left.
  const std::uint64_t n = csr.vertices();
  std::vector<std::uint32_t> cores(n);
  std::uint64_t most = 0;
  for (std::uint64_t v = 0; v < n; ++v) {
    cores[v] = static_cast<std::uint32_t>(csr.out.degree(v));
    most = std::max(most, csr.out.degree(v));
  }
  std::vector<std::vector<Vertex>> buckets(most + 1);
  for (std::uint64_t v = 0; v < n; ++v) buckets[cores[v]].push_back(static_cast<Vertex>(v));
  std::vector<bool> done(n);
  for (std::uint64_t k = 0; k <= most; ++k)
    for (std::size_t i = 0; i < buckets[k].size(); ++i) {
      const Vertex v = buckets[k][i];
      if (done[v] || cores[v] != k) continue;  // moved on to another bucket
      done[v] = true;
      for (const Vertex to : csr.out.of(v)) {
        if (done[to] || cores[to] <= k) continue;
        buckets[--cores[to]].push_back(to);
      }
    }
  return cores;
}

std::optional<std::string> verify_cores(const Csr& csr, std::span<const std::uint32_t> cores) {
  if (cores.size() != csr.vertices())
    return fmt::format("{} values for {} vertices", cores.size(), csr.vertices());
  const std::vector<std::uint32_t> right = reference_cores(csr);
  for (std::uint64_t v = 0; v < csr.vertices(); ++v)
    if (cores[v] != right[v])
      return fmt::format("vertex {} has the core number {}, not {}", v, cores[v], right[v]);
  return {};
}

}  // namespace holdall::graph
