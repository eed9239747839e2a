// Core numbers, betweenness and triangles.
#include "kernels/centrality.hpp"
#include "kernels/kcore.hpp"
#include "kernels/triangles.hpp"
#include "tests/kernels/items.hpp"

namespace holdall::kernels {
namespace {

class Structure : public OnDevice {};

std::vector<std::uint32_t> serial_cores(const Graph& graph) {
  std::vector<std::uint32_t> cores(graph.vertices(), no_core);
  std::vector<std::uint64_t> degrees(graph.vertices());
  for (Vertex v = 0; v < graph.vertices(); ++v) degrees[v] = list_of(graph, v).size();
  std::uint64_t left = graph.vertices();
  for (std::uint32_t k = 0; left > 0; ++k)
    for (bool some = true; some;) {
      some = false;
      for (Vertex v = 0; v < graph.vertices(); ++v) {
        if (cores[v] != no_core || degrees[v] > k) continue;
        cores[v] = k;
        some = true;
        --left;
        for (const Vertex to : list_of(graph, v))
          if (to != v && degrees[to] > 0) --degrees[to];
      }
    }
  return cores;
}

TEST_P(Structure, CoreNumbersAreTheSerialOnes) {
  std::mt19937_64 random(11);
  for (const Graph& shape : small_graphs()) {
    SCOPED_TRACE(shape.name);
    const Graph graph = symmetrized(shape);
    Items out(graph, 4096, stream());
    const DeviceArray<std::uint32_t> cores(graph.vertices(), stream()),
        degrees(graph.vertices(), stream()), answer(1, stream());
    const DeviceArray<Vertex> frontier(graph.vertices(), stream());
    const DeviceArray<std::uint64_t> bits(bitmap_words(graph.vertices()), stream());
    const KcoreState state{graph.vertices(), out.offsets(),  out.neighbours(),
                           cores.data(),     degrees.data(), frontier.data(),
                           bits.data(),      answer.data(),  out.workspace()};
    kcore_start(state, stream());
    for (std::uint32_t k; (k = kcore_least(state, stream())) != no_core;) {
      kcore_mark(state, k, stream());
      while (const std::uint64_t count = kcore_take(state, k, stream()))
        out.deal(frontier.data(), count, 2, random,
                 [&](const WorkItems& items, const ItemPass& pass) {
                   kcore_drop(state, k, items, pass, stream());
                 });
    }
    ASSERT_EQ(cores.read(), serial_cores(graph));
  }
}

std::vector<double> serial_centrality(const Graph& graph, Vertex source) {
  const std::uint64_t n = graph.vertices();
  std::vector<Vertex> order{source};
  std::vector<std::uint32_t> depths(n, no_depth);
  std::vector<double> paths(n), dependencies(n), scores(n);
  depths[source] = 0;
  paths[source] = 1;
  for (std::size_t i = 0; i < order.size(); ++i)
    for (const Vertex to : list_of(graph, order[i])) {
      if (depths[to] == no_depth) {
        depths[to] = depths[order[i]] + 1;
        order.push_back(to);
      }
      if (depths[to] == depths[order[i]] + 1) paths[to] += paths[order[i]];
    }
  for (std::size_t i = order.size(); i-- > 0;) {
    const Vertex v = order[i];
    for (const Vertex to : list_of(graph, v))
      if (depths[to] == depths[v] + 1)
        dependencies[v] += paths[v] / paths[to] * (1 + dependencies[to]);
    if (v != source) scores[v] = dependencies[v];
  }
  return scores;
}

TEST_P(Structure, BetweennessIsTheSerialOne) {
  std::mt19937_64 random(12);
  for (const Graph& graph : small_graphs()) {
    SCOPED_TRACE(graph.name);
    const std::uint64_t n = graph.vertices();
    Items out(graph, 4096, stream());
    const DeviceArray<double> scores(n, stream()), paths(n, stream()), dependencies(n, stream());
    const DeviceArray<std::uint32_t> depths(n, stream());
    const DeviceArray<Vertex> order(n, stream());
    const DeviceArray<std::uint64_t> bits(bitmap_words(n), stream());
    const CentralityState state{n,
                                out.neighbours(),
                                scores.data(),
                                paths.data(),
                                dependencies.data(),
                                depths.data(),
                                order.data(),
                                bits.data(),
                                out.workspace()};
    std::vector<double> expected(n);
    centrality_clear(state, stream());
    for (const Vertex source : {Vertex{0}, static_cast<Vertex>(random() % n)}) {
      centrality_start(state, source, stream());
      std::vector<std::uint64_t> begins{0, 1};
      std::uint32_t depth = 0;
      const auto along = [&](auto step) {
        out.deal(order.data() + begins[depth], begins[depth + 1] - begins[depth], 2, random,
                 [&](const WorkItems& items, const ItemPass& pass) {
                   step(state, depth, items, pass, stream());
                 });
      };
      for (; begins[depth] < begins[depth + 1]; ++depth) {
        along(centrality_forward);
        begins.push_back(begins.back() + centrality_next(state, begins.back(), stream()));
      }
      while (depth-- > 0) along(centrality_backward);
      centrality_add(state, source, stream());
      const std::vector<double> more = serial_centrality(graph, source);
      for (std::uint64_t v = 0; v < n; ++v) expected[v] += more[v];
    }
    const std::vector<double> found = scores.read();
    for (std::uint64_t v = 0; v < n; ++v)
      ASSERT_NEAR(found[v], expected[v], 1e-9 * expected[v]) << "vertex " << v;
  }
}

std::uint64_t serial_triangles(const Graph& graph) {
  std::uint64_t count = 0;
  std::vector<std::vector<Vertex>> below(graph.vertices());
  for (Vertex u = 0; u < graph.vertices(); ++u) {
    for (const Vertex v : list_of(graph, u))
      if (v < u && (below[u].empty() || below[u].back() != v)) below[u].push_back(v);
    for (const Vertex v : below[u]) {
      std::vector<Vertex> both;
      std::set_intersection(below[u].begin(), below[u].end(), below[v].begin(), below[v].end(),
                            std::back_inserter(both));
      count += both.size();
    }
  }
  return count;
}

TEST_P(Structure, TrianglesAreAsManyHoweverTheVerticesAreCut) {
  std::mt19937_64 random(13);
  for (const Graph& shape : small_graphs()) {
    SCOPED_TRACE(shape.name);
    const Graph graph = symmetrized(shape);
    const Items out(graph, 4096, stream());
    DeviceArray<std::uint64_t> count(1, stream());
    count.write(std::vector<std::uint64_t>{0});
    const TrianglesState state{graph.vertices(), out.offsets(), out.neighbours(), count.data()};
    const auto cuts = [&] {
      std::vector<std::uint64_t> at{0, graph.vertices()};
      for (int i = 0; i < 3; ++i) at.push_back(random() % (graph.vertices() + 1));
      std::sort(at.begin(), at.end());
      return at;
    };
    const std::vector<std::uint64_t> upper = cuts(), lower = cuts();
    for (std::size_t i = 0; i + 1 < upper.size(); ++i)
      for (std::size_t j = 0; j + 1 < lower.size(); ++j)
        count_triangles(
            state, {upper[i], upper[i + 1]},
            {graph.offsets[upper[i]], graph.offsets[upper[i + 1]] - graph.offsets[upper[i]]},
            {lower[j], lower[j + 1]}, stream());
    ASSERT_EQ(count.read()[0], serial_triangles(graph));
  }
}

ON_EVERY_DEVICE(Structure);

}  // namespace
}  // namespace holdall::kernels
