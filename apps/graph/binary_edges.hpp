// The edges of a binary file of compressed rows, read where they lie: what all such formats share,
// however wide their numbers are and in whatever order.
#pragma once

#include <memory>
#include <optional>

#include "apps/graph/edges.hpp"
#include "apps/graph/file.hpp"

namespace holdall::graph {

// A number for each edge.
struct BinaryColumn {
  std::shared_ptr<const File> file = {};
  Bytes offset = 0;         // of the first
  Bytes element_bytes = 4;  // or 8
  Bytes stride = 4;         // from one to the next
};

struct BinaryGraph {
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;  // entries
  // Offsets of 4 or 8 bytes: of where each list begins and the last ends, of where each begins, or
  // of where each ends.
  BinaryColumn offsets = {};
  enum class Offsets { all, begins, ends } kind = Offsets::all;
  BinaryColumn neighbours = {};
  std::optional<BinaryColumn> weights = {};
  Weights weight_kind = Weights::none;  // of them; none: to be guessed, the format does not say
  bool undirected = false;              // an edge between two vertices is in both lists
};

class BinaryEdges final : public EdgeSource {
 public:
  // Reads the offsets, `memory` bytes of them at most. `weighted`: whether to read weights.
  // Throws GraphError with the byte of an offset that decreases or is past the edges.
  BinaryEdges(BinaryGraph graph, bool weighted, Bytes memory);

  std::uint64_t vertices() const override { return graph_.vertices; }
  std::uint64_t blocks() const override;
  Weights weights() const override { return weights_; }
  // Of an undirected graph each edge once. Throws GraphError with the byte of a neighbour outside
  // the graph, and of a weight that is none.
  EdgeBlock read(std::uint64_t block, EdgeScratch& scratch) const override;

 private:
  BinaryGraph graph_;
  Weights weights_ = Weights::none;
  Array<std::uint64_t> offsets_;
};

}  // namespace holdall::graph
