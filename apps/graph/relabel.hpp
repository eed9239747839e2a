// Vertices numbered anew by how many edges they have.
#pragma once

#include <utility>

#include "apps/graph/edges.hpp"

namespace holdall::graph {

// The edges of another source with the vertex of most ends of edges as 0, and so on; equals keep
// their order. Memory: 12 bytes a vertex while it is made, 8 after that.
class DegreeEdges final : public EdgeSource {
 public:
  // `source` must outlive this. Throws GraphError where it takes more than `memory` bytes.
  DegreeEdges(const EdgeSource& source, Bytes memory);

  std::uint64_t vertices() const override { return source_.vertices(); }
  std::uint64_t blocks() const override { return source_.blocks(); }
  Weights weights() const override { return source_.weights(); }
  EdgeBlock read(std::uint64_t block, EdgeScratch& scratch) const override;

  // The id that each vertex had.
  Array<Vertex> take_original_ids() { return std::move(order_); }

 private:
  const EdgeSource& source_;
  Array<Vertex> order_;  // old ids in the new order
  Array<Vertex> rank_;   // the new id of each old one
};

}  // namespace holdall::graph
