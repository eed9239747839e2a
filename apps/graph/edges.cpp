#include "apps/graph/edges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apps/graph/error.hpp"

namespace holdall::graph {

namespace {
constexpr std::uint64_t block_edges = 1 << 16;
}

EdgeList::EdgeList(std::uint64_t vertices, std::vector<Edge> edges)
    : vertices_(vertices), edges_(std::move(edges)) {
  for (const Edge& edge : edges_)
    if (std::max(edge.from, edge.to) >= vertices)
      throw GraphError(fmt::format("the edge {} -> {} is outside a graph of {} vertices", edge.from,
                                   edge.to, vertices));
}

std::uint64_t EdgeList::blocks() const { return (edges_.size() + block_edges - 1) / block_edges; }

std::span<const Edge> EdgeList::read(std::uint64_t block, std::vector<Edge>&) const {
  const std::uint64_t first = block * block_edges;
  return std::span(edges_).subspan(first, std::min(block_edges, edges_.size() - first));
}

}  // namespace holdall::graph
