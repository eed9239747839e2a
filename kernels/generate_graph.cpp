#include "kernels/generate_graph.hpp"

#include <tbb/parallel_for.h>
#include <tbb/parallel_sort.h>

#include <algorithm>
#include <vector>

#include "kernels/gpu.hpp"
#include "kernels/on_host.hpp"
#include "kernels/search.hpp"

namespace holdall::kernels {
namespace {

// Both directions of each edge, ascending, each once: source in the high bits.
std::vector<std::uint64_t> sorted_pairs(const RandomGraph& graph) {
  std::vector<std::uint64_t> pairs(2 * graph.edges());
  tbb::parallel_for(std::uint64_t{0}, graph.edges(), [&](std::uint64_t i) {
    const RandomEdge edge = random_edge(graph, i);
    pairs[2 * i] = std::uint64_t{edge.from} << 32 | edge.to;
    pairs[2 * i + 1] = std::uint64_t{edge.to} << 32 | edge.from;
  });
  tbb::parallel_sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  std::erase_if(pairs, [](std::uint64_t pair) { return pair >> 32 == (pair & 0xFFFF'FFFF); });
  return pairs;
}

}  // namespace

GeneratedGraph generate_graph(const RandomGraph& graph, Stream stream) {
  if (!stream.on_host()) return gpu::generate_graph(graph, stream);
  const std::vector<std::uint64_t> pairs =
      launch_and_wait(stream, [graph] { return sorted_pairs(graph); });
  GeneratedGraph made{.vertices = graph.vertices(),
                      .edges = pairs.size(),
                      .offsets = {graph.vertices() + 1, stream},
                      .neighbours = {pairs.size(), stream}};
  launch_and_wait(stream, [&] {
    tbb::parallel_for(std::uint64_t{0}, made.vertices, [&](std::uint64_t v) {
      made.offsets.data()[v] = first_at_least(pairs.data(), made.edges, v << 32);
    });
    made.offsets.data()[made.vertices] = made.edges;
    tbb::parallel_for(std::uint64_t{0}, made.edges, [&](std::uint64_t e) {
      made.neighbours.data()[e] = static_cast<Vertex>(pairs[e] & 0xFFFF'FFFF);
    });
  });
  return made;
}

}  // namespace holdall::kernels
