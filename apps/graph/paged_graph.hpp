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
};

class PagedGraph {
 public:
  struct Options {
    Bytes chunk = 0;  // of the neighbours; 0: the engine's
    bool out = true;  // which directions an algorithm will ask for; an undirected graph has one
    bool in = true;
  };
  // Neighbours are read from the file as they are needed; it must be in_place(). Throws GraphError,
  // and what Engine throws.
  PagedGraph(Engine& engine, const GraphFile& file, const Options& options);
  // Neighbours are copied to pinned host memory.
  PagedGraph(Engine& engine, const Csr& csr, const Options& options);

  Engine& engine() const { return engine_; }
  Stream stream() const { return stream_; }
  bool directed() const { return directed_; }
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
  Traffic traffic;  // of this step
};
using Watch = std::function<void(const Step&)>;

// Traffic since an earlier state of the counters.
Traffic operator-(const Traffic& now, const Traffic& before);

}  // namespace holdall::graph
