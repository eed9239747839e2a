#include "apps/graph/edges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apps/graph/error.hpp"

namespace holdall::graph {

namespace {
constexpr std::uint64_t block_edges = 1 << 16;
}

EdgeList::EdgeList(std::uint64_t vertices, std::vector<Edge> edges, Weights kind,
                   std::vector<std::uint32_t> weights)
    : vertices_(vertices), edges_(std::move(edges)), kind_(kind), weights_(std::move(weights)) {
  if (weights_.size() != (kind == Weights::none ? 0 : edges_.size()))
    throw GraphError(
        fmt::format("{} weights for {} edges; expected one each", weights_.size(), edges_.size()));
  for (const Edge& edge : edges_)
    if (std::max(edge.from, edge.to) >= vertices)
      throw GraphError(fmt::format("the edge {} -> {} is outside a graph of {} vertices", edge.from,
                                   edge.to, vertices));
}

std::uint64_t EdgeList::blocks() const { return (edges_.size() + block_edges - 1) / block_edges; }

EdgeBlock EdgeList::read(std::uint64_t block, EdgeScratch&) const {
  const std::uint64_t first = block * block_edges;
  const std::uint64_t count = std::min(block_edges, edges_.size() - first);
  EdgeBlock read{std::span(edges_).subspan(first, count), {}};
  if (kind_ != Weights::none) read.weights = std::span(weights_).subspan(first, count);
  return read;
}

}  // namespace holdall::graph
