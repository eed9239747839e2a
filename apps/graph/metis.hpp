// METIS graph files (Karypis, METIS manual, 4.1.1): `vertices edges [fmt [ncon]]`, then a line for
// each vertex: its size where the first digit of fmt is 1, ncon weights where the second is, then
// the ids of its neighbours from 1, each with the edge's weight where the third is. % begins a
// comment line; an empty line is a vertex without neighbours. Undirected: each edge stands in both
// lists.
#pragma once

#include <oneapi/tbb/enumerable_thread_specific.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "apps/graph/edges.hpp"
#include "apps/graph/line_blocks.hpp"
#include "apps/graph/text.hpp"

namespace holdall::graph {

struct MetisHeader {
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  std::uint64_t numbers_before = 0;  // sizes and weights of the vertex, to be passed over
  bool weighted = false;
  std::uint64_t line = 0;
  Bytes end = 0;  // where the lists begin
};

// Whether a text is one: its lines are as many and as long as the first says, and not as an edge
// list's are. `head` is its first bytes, `whole` that they are all of it. Where it could be either,
// `named` decides.
bool is_metis(std::string_view head, bool whole, bool named);

MetisHeader read_metis_header(const File& file);

// The edges, each once, from the lesser id to the greater.
class MetisEdges final : public EdgeSource {
 public:
  // Throws GraphError where the lists do not agree with the header or with each other.
  MetisEdges(const File& file, const MetisHeader& header, bool unweighted);

  std::uint64_t vertices() const override { return header_.vertices; }
  std::uint64_t blocks() const override { return lines_.size(); }
  Weights weights() const override { return weights_; }
  EdgeBlock read(std::uint64_t block, EdgeScratch& scratch) const override;

 private:
  // Appends what the lists of a block hold to `edges`, those to lesser ids too if `all`.
  Weights parse(std::uint64_t block, EdgeScratch& edges, bool all) const;

  const MetisHeader header_;
  const bool keeps_weights_;
  const LineBlocks lines_;
  Weights weights_ = Weights::none;
  std::vector<std::uint64_t> first_;  // vertex of each block
  mutable tbb::enumerable_thread_specific<std::vector<char>> text_;
};

}  // namespace holdall::graph
