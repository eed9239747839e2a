// Ids with gaps, numbered anew without them.
#pragma once

#include "apps/graph/edges.hpp"

namespace holdall::graph {

// The edges of another source with each id replaced by its rank among the ids that occur. Memory:
// a quarter byte for each id up to the greatest, and what original_ids() takes.
class CompactEdges final : public EdgeSource {
 public:
  // `source` must outlive this. Throws GraphError where it takes more than `memory` bytes.
  CompactEdges(const EdgeSource& source, Bytes memory);

  std::uint64_t vertices() const override { return vertices_; }
  std::uint64_t blocks() const override { return source_.blocks(); }
  Weights weights() const override { return source_.weights(); }
  EdgeBlock read(std::uint64_t block, EdgeScratch& scratch) const override;

  // The id that each vertex had.
  Array<Vertex> original_ids() const;

 private:
  Vertex rank(Vertex id) const;

  const EdgeSource& source_;
  std::uint64_t vertices_ = 0;
  Array<std::uint64_t> occurs_;  // a bit an id
  Array<std::uint64_t> before_;  // ids that occur below those of the same word
};

}  // namespace holdall::graph
