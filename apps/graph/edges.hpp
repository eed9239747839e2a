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

class EdgeSource {
 public:
  virtual ~EdgeSource() = default;
  virtual std::uint64_t vertices() const = 0;  // every id is below it
  virtual std::uint64_t blocks() const = 0;
  // The edges of one block, the same at each call; they may lie in `scratch`, whose contents the
  // call replaces. Thread-safe with a scratch for each thread. Throws GraphError when they cannot
  // be read.
  virtual std::span<const Edge> read(std::uint64_t block, std::vector<Edge>& scratch) const = 0;
};

// Edges that are in memory already. Throws GraphError if an id is not below `vertices`.
class EdgeList final : public EdgeSource {
 public:
  EdgeList(std::uint64_t vertices, std::vector<Edge> edges);

  std::uint64_t vertices() const override { return vertices_; }
  std::uint64_t blocks() const override;
  std::span<const Edge> read(std::uint64_t block, std::vector<Edge>& scratch) const override;

 private:
  std::uint64_t vertices_;
  std::vector<Edge> edges_;
};

}  // namespace holdall::graph
