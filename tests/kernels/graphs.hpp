// Small graphs, and cuts of their edges into passes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kernels/edges.hpp"

namespace holdall::kernels {

struct Graph {
  std::string name;
  std::vector<std::uint64_t> offsets;
  std::vector<Vertex> neighbours;

  std::uint64_t vertices() const { return offsets.size() - 1; }
  std::uint64_t edges() const { return neighbours.size(); }
};

using EdgeList = std::vector<std::pair<Vertex, Vertex>>;

inline Graph graph_of(std::string name, std::uint64_t vertices, EdgeList edges) {
  std::stable_sort(edges.begin(), edges.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  Graph graph{std::move(name), std::vector<std::uint64_t>(vertices + 1), {}};
  for (const auto& [from, to] : edges) {
    ++graph.offsets[from + 1];
    graph.neighbours.push_back(to);
  }
  for (std::uint64_t v = 0; v < vertices; ++v) graph.offsets[v + 1] += graph.offsets[v];
  return graph;
}

inline Graph transpose(const Graph& graph) {
  EdgeList edges;
  for (Vertex v = 0; v < graph.vertices(); ++v) {
    for (std::uint64_t e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
      edges.emplace_back(graph.neighbours[e], v);
    }
  }
  return graph_of(graph.name + " transposed", graph.vertices(), edges);
}

// Every shape that has its own way to go wrong.
inline std::vector<Graph> small_graphs() {
  std::vector<Graph> graphs;
  std::mt19937_64 random(7);
  const auto pick = [&random](Vertex below) { return static_cast<Vertex>(random() % below); };

  graphs.push_back(graph_of("one vertex", 1, {}));
  graphs.push_back(graph_of("one vertex with a loop", 1, {{0, 0}}));
  graphs.push_back(graph_of("no edges", 200, {}));

  EdgeList path;
  for (Vertex v = 0; v + 1 < 200; ++v) path.insert(path.end(), {{v, v + 1}, {v + 1, v}});
  graphs.push_back(graph_of("path", 200, path));

  EdgeList star;
  for (Vertex v = 1; v < 10'000; ++v) star.insert(star.end(), {{0, v}, {v, 0}});
  graphs.push_back(graph_of("star", 10'000, star));

  EdgeList clique;
  for (Vertex a = 0; a < 100; ++a) {
    for (Vertex b = 0; b < 100; ++b) {
      if (a != b) clique.emplace_back(a, b);
    }
  }
  graphs.push_back(graph_of("clique", 100, clique));

  EdgeList sparse;
  for (int i = 0; i < 30'000; ++i) sparse.emplace_back(pick(10'000), pick(10'000));
  graphs.push_back(graph_of("random", 10'000, sparse));

  // Half of all edges at one vertex, loops and multi-edges, and vertices without any edge between.
  EdgeList hub;
  for (int i = 0; i < 40'000; ++i) hub.emplace_back(4'000, pick(9'000));
  for (int i = 0; i < 40'000; ++i) hub.emplace_back(pick(3'000) * 3, pick(9'000) / 3 * 3);
  for (Vertex v = 0; v < 9'000; v += 7) hub.insert(hub.end(), {{v, v}, {v, v}, {v, v}});
  graphs.push_back(graph_of("hub", 30'000, hub));
  return graphs;
}

// [0, edges) cut at random, dealt out to `passes` passes at random. Empty spans are among them.
inline std::vector<std::vector<EdgeSpan>> random_passes(std::uint64_t edges, std::uint64_t cuts,
                                                        std::size_t passes,
                                                        std::mt19937_64& random) {
  std::vector<std::uint64_t> at{0, edges};
  for (std::uint64_t i = 0; i < cuts; ++i) at.push_back(random() % (edges + 1));
  std::sort(at.begin(), at.end());
  std::vector<std::vector<EdgeSpan>> dealt(passes);
  for (std::size_t i = 0; i + 1 < at.size(); ++i) {
    dealt[random() % passes].push_back({at[i], at[i + 1] - at[i]});
  }
  return dealt;
}

inline std::uint64_t edges_of(const std::vector<EdgeSpan>& spans) {
  std::uint64_t edges = 0;
  for (const EdgeSpan& span : spans) edges += span.count;
  return edges;
}

}  // namespace holdall::kernels
