// Edges on their way into a graph. A source can be read as often as is asked, block by block, by
// many threads at once, so that building a graph need not hold its edges beside it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "apps/graph/csr.hpp"

namespace holdall::graph {

struct Edge {
  Vertex from = 0;
  Vertex to = 0;
  friend bool operator==(const Edge&, const Edge&) = default;
};

struct EdgeBlock {
  std::span<const Edge> edges;
  std::span<const std::uint32_t> weights;  // one an edge, as in Adjacency; none without weights
};
struct EdgeScratch {
  std::vector<Edge> edges;
  std::vector<std::uint32_t> weights;
};

class EdgeSource {
 public:
  virtual ~EdgeSource() = default;
  virtual std::uint64_t vertices() const = 0;  // every id is below it
  virtual std::uint64_t blocks() const = 0;
  virtual Weights weights() const { return Weights::none; }
  // The edges of one block, the same at each call; they may lie in `scratch`, whose contents the
  // call replaces. Thread-safe with a scratch for each thread. Throws GraphError when they cannot
  // be read.
  virtual EdgeBlock read(std::uint64_t block, EdgeScratch& scratch) const = 0;
};

// Edges that are in memory already. Throws GraphError if an id is not below `vertices`.
class EdgeList final : public EdgeSource {
 public:
  // `weights`: one an edge, of kind `kind`; or none.
  EdgeList(std::uint64_t vertices, std::vector<Edge> edges, Weights kind = Weights::none,
           std::vector<std::uint32_t> weights = {});

  std::uint64_t vertices() const override { return vertices_; }
  std::uint64_t blocks() const override;
  Weights weights() const override { return kind_; }
  EdgeBlock read(std::uint64_t block, EdgeScratch& scratch) const override;

 private:
  std::uint64_t vertices_;
  std::vector<Edge> edges_;
  Weights kind_;
  std::vector<std::uint32_t> weights_;
};

}  // namespace holdall::graph
