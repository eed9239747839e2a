// The edges of a text file, parsed by all threads.
#pragma once

#include <oneapi/tbb/enumerable_thread_specific.h>

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apps/graph/edges.hpp"
#include "apps/graph/line_blocks.hpp"
#include "apps/graph/text.hpp"

namespace holdall::graph {

class TextEdges final : public EdgeSource {
 public:
  // Parses everything from byte `begin` of `file` once. Edges are kept for read() as far as `keep`
  // bytes go; the rest is parsed again each time. `file` must outlive this.
  // Throws GraphError with the first bad line.
  TextEdges(const File& file, Bytes begin, const TextRules& rules, Bytes keep);

  // Of one kind over the file; none where the rules pass over weights.
  Weights weights() const override { return weights_; }
  std::uint64_t edges() const { return edges_; }
  Edge first() const { return first_; }  // meaningful if there are edges
  // Of all edges but the first.
  Vertex least_of_rest() const { return least_of_rest_; }
  Vertex greatest_of_rest() const { return greatest_of_rest_; }
  // The first line turned out to be a header.
  void drop_first();
  // `vertices` is more than every id.
  void set_vertices(std::uint64_t vertices) { vertices_ = vertices; }

  std::uint64_t vertices() const override { return vertices_; }
  std::uint64_t blocks() const override { return blocks_.size(); }
  EdgeBlock read(std::uint64_t block, EdgeScratch& scratch) const override;

 private:
  struct Block {
    std::uint64_t edges = 0;
    Vertex least = 0xffffffff, greatest = 0;  // of all but the first edge of the file
    Weights kind = Weights::none;
    EdgeScratch kept;
  };

  Weights parse(std::uint64_t block, EdgeScratch& edges) const;

  const LineBlocks lines_;
  const TextRules rules_;
  std::vector<Block> blocks_;
  Weights weights_ = Weights::none;
  std::uint64_t edges_ = 0;
  std::uint64_t vertices_ = 0;
  std::uint64_t first_block_ = 0;
  Edge first_;
  bool first_dropped_ = false;
  Vertex least_of_rest_ = 0xffffffff, greatest_of_rest_ = 0;
  mutable tbb::enumerable_thread_specific<std::vector<char>> text_;
};

}  // namespace holdall::graph
