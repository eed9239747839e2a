// Graphs of known shapes, drawn ones, and real ones where they are at hand.
#pragma once

#include <cstdlib>

#include "apps/graph/generate.hpp"
#include "tests/graph/language.hpp"

namespace holdall::graph {

// 0 - 1 - 2 - ...
inline Edges path_of(Vertex vertices) {
  Edges edges;
  for (Vertex v = 0; v + 1 < vertices; ++v) edges.push_back({v, v + 1});
  return edges;
}

// 0 has all others as neighbours.
inline Edges star_of(Vertex vertices) {
  Edges edges;
  for (Vertex v = 1; v < vertices; ++v) edges.push_back({0, v});
  return edges;
}

// A star with an edge between every hundredth pair of neighbours: 0 has nearly all edges.
inline Edges hub_of(Vertex vertices) {
  Edges edges = star_of(vertices);
  for (Vertex v = 1; v + 1 < vertices; v += 100) edges.push_back({v, v + 1});
  return edges;
}

inline Edges clique_of(Vertex vertices) {
  Edges edges;
  for (Vertex u = 0; u < vertices; ++u)
    for (Vertex v = u + 1; v < vertices; ++v) edges.push_back({u, v});
  return edges;
}

// `side` times `side` vertices.
inline Edges grid_of(Vertex side) {
  Edges edges;
  for (Vertex y = 0; y < side; ++y)
    for (Vertex x = 0; x < side; ++x) {
      if (x + 1 < side) edges.push_back({y * side + x, y * side + x + 1});
      if (y + 1 < side) edges.push_back({y * side + x, (y + 1) * side + x});
    }
  return edges;
}

// "kron:14:64": simple, in one direction or both.
inline Csr drawn(std::string_view what, bool directed) {
  const Generator generator = parse_generator(what);
  Edges edges(generator.edges());
  for (std::uint64_t i = 0; i < edges.size(); ++i) edges[i] = generate_edge(generator, i);
  return build_csr(EdgeList(generator.vertices(), std::move(edges)),
                   {.symmetrize = !directed, .deduplicate = true, .remove_self_loops = true});
}

// Where real graphs are: $HOLDALL_DATA/graphs, else shared/data/graphs beside the checkout.
inline std::filesystem::path folder_of_real_graphs() {
  const char* const data = std::getenv("HOLDALL_DATA");
  return (data != nullptr
              ? std::filesystem::path(data)
              : std::filesystem::path(HOLDALL_SOURCE_ROOT).parent_path() / "shared" / "data") /
         "graphs";
}

// Calls check(path) for those of `names` that are there; whether there was one.
template <typename Check>
bool of_real_graphs(std::initializer_list<const char*> names, Check check) {
  bool some = false;
  for (const char* const name : names) {
    const auto path = folder_of_real_graphs() / name;
    if (!std::filesystem::exists(path)) continue;
    some = true;
    SCOPED_TRACE(name);
    check(path);
  }
  return some;
}

}  // namespace holdall::graph
