// A graph whose neighbours are paged: they stay in their file, or in pinned host memory, and are
// brought in as algorithms need them. Offsets are always resident.
//
//   Engine engine({.memory = 8_GiB});
//   graph::PagedGraph graph(engine, graph::open_graph("twitter.hold"));
//   graph::Bfs bfs(graph);
//   std::vector<graph::Vertex> parents = bfs.run(0).parents;
#pragma once

#include <cstdint>
#include <functional>

#include "apps/graph/csr.hpp"
#include "apps/graph/graph_file.hpp"
#include "apps/graph/vertex_array.hpp"
#include "engine/engine.hpp"

namespace holdall::graph {

// One direction of its edges.
struct PagedAdjacency {
  VertexArray<std::uint64_t> offsets;
  Range<Vertex> neighbours;
  Range<std::uint32_t> weights;  // of the same chunks; none unless asked for
  // Where they lie in pinned host memory, for kernels that read a little of a chunk over the link
  // rather than all of it by paging; nullptr where they are in a file.
  const Vertex* neighbours_in_place = nullptr;
  const std::uint32_t* weights_in_place = nullptr;
};

class PagedGraph {
 public:
  struct Options {
    Bytes chunk = 0;  // of the neighbours; 0: the engine's
    bool out = true;  // which directions an algorithm will ask for; an undirected graph has one
    bool in = true;
    bool weights = false;  // of the out-edges
  };
  // Neighbours are read from the file as they are needed; it must be in_place(). Throws GraphError,
  // and what Engine throws.
  PagedGraph(Engine& engine, const GraphFile& file, const Options& options);
  // Neighbours are copied to pinned host memory. Either throws GraphError where weights are asked
  // for and there are none.
  PagedGraph(Engine& engine, const Csr& csr, const Options& options);

  Engine& engine() const { return engine_; }
  Stream stream() const { return stream_; }
  bool directed() const { return directed_; }
  Weights weights() const { return weights_; }  // none unless asked for
  std::uint64_t vertices() const { return vertices_; }
  std::uint64_t edges() const { return edges_; }
  const PagedAdjacency& out() const { return out_; }
  const PagedAdjacency& in() const { return directed_ ? in_ : out_; }

  // Throws GraphError if the file changed since it was opened: an answer from it may be wrong.
  void check_unchanged() const {
    if (check_) check_();
  }

 private:
  Engine& engine_;
  Stream stream_;
  bool directed_ = false;
  Weights weights_ = Weights::none;
  std::uint64_t vertices_ = 0;
  std::uint64_t edges_ = 0;
  PagedAdjacency out_;
  PagedAdjacency in_;
  std::function<void()> check_;
  Lease lease_;  // on the offsets
};

// What a level of BFS or an iteration of PageRank did, for those who watch.
struct Step {
  int number = 0;
  std::uint64_t vertices = 0;  // frontier; all of them in PageRank
  std::uint64_t edges = 0;
  double error = 0;  // PageRank
  double seconds = 0;
  Traffic traffic;                   // of this step
  std::uint64_t edges_in_place = 0;  // of `edges`, read from host memory without being paged
  Bytes bytes_in_place = 0;          // and what of the link that took, about
  bool bottom_up = false;            // BFS
};
// What a run of any algorithm took, besides its answer.
struct RunTotals {
  int steps = 0;
  std::uint64_t edges = 0;  // read
  std::uint64_t edges_in_place = 0;
  Bytes bytes_in_place = 0;
  double seconds = 0;
};
using Watch = std::function<void(const Step&)>;

// Traffic since an earlier state of the counters.
Traffic operator-(const Traffic& now, const Traffic& before);

}  // namespace holdall::graph
