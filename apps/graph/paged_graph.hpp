// A graph whose neighbours are paged: they stay in their file, or in pinned host memory, and are
// brought in as algorithms need them. Offsets are always resident.
//
// It may be one part of a graph that is split (apps/graph/split.hpp): all vertices, and the edges
// of those that are its own.
//
//   Engine engine({.memory = 8_GiB});
//   graph::PagedGraph graph(engine, graph::open_graph("twitter.hold"));
//   graph::Bfs bfs(graph);
//   std::vector<graph::Vertex> parents = bfs.run(0).parents;
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "apps/graph/csr.hpp"
#include "apps/graph/exchange.hpp"
#include "apps/graph/graph_file.hpp"
#include "apps/graph/vertex_array.hpp"
#include "engine/engine.hpp"
#include "kernels/demand.hpp"

namespace holdall::graph {

// One direction of its edges.
struct PagedAdjacency {
  std::uint64_t edges = 0;
  std::uint64_t first_edge = 0;  // of them, in the graph that this is a part of
  VertexArray<std::uint64_t> offsets;
  Range<Vertex> neighbours;
  Range<std::uint32_t> weights;  // of as many chunks, for the same edges; none unless asked for
  // Where they lie in pinned host memory, for kernels that read a little of a chunk over the link
  // rather than all of it by paging; nullptr where they are in a file.
  const Vertex* neighbours_in_place = nullptr;
  const std::uint32_t* weights_in_place = nullptr;
};

// Where both directions of a graph begin in memory; empty where they have not been read.
struct Offsets {
  std::span<const std::uint64_t> out, in;
};

class PagedGraph {
 public:
  // Which part of a split graph; all of it unless given.
  struct Part {
    Exchange* exchange = nullptr;  // outlives the graph
    int device = 0;
    Offsets offsets;  // of the whole graph, so that they need not be read again
  };
  struct Options {
    Bytes chunk = 0;  // of the weights, if asked for, or else of the neighbours; 0: the engine's
    bool out = true;  // which directions an algorithm will ask for; an undirected graph has one
    bool in = true;
    bool weights = false;  // of the out-edges
  };
  // Neighbours are read from the file as they are needed; it must be in_place(). Throws GraphError,
  // and what Engine throws.
  PagedGraph(Engine& engine, const GraphFile& file, const Options& options, const Part& part);
  PagedGraph(Engine& engine, const GraphFile& file, const Options& options)
      : PagedGraph(engine, file, options, Part{}) {}
  // Neighbours are copied to pinned host memory. Either throws GraphError where weights are asked
  // for and there are none.
  PagedGraph(Engine& engine, const Csr& csr, const Options& options, const Part& part);
  PagedGraph(Engine& engine, const Csr& csr, const Options& options)
      : PagedGraph(engine, csr, options, Part{}) {}

  Engine& engine() const { return engine_; }
  Stream stream() const { return stream_; }
  bool directed() const { return directed_; }
  Weights weights() const { return weights_; }  // none unless asked for
  std::uint64_t vertices() const { return vertices_; }
  std::uint64_t edges() const { return edges_; }

  Exchange& exchange() const { return *exchange_; }
  int device() const { return device_; }
  // Part p has the edges of the vertices [bounds[p], bounds[p + 1]).
  std::span<const std::uint64_t> bounds() const { return bounds_; }
  std::uint64_t first() const { return bounds_[static_cast<std::size_t>(exchange_->part())]; }
  std::uint64_t past() const { return bounds_[static_cast<std::size_t>(exchange_->part()) + 1]; }
  // Of either direction here.
  std::uint64_t most_edges() const { return std::max(out_.edges, in_.edges); }
  std::uint64_t most_chunks() const;
  // Those of a list of vertices, ascending, that are this part's own. `workspace` of
  // visit_workspace_bytes. Waits, if the graph is split.
  kernels::Frontier own(const Vertex* list, std::uint64_t count, void* workspace) const;

  const PagedAdjacency& out() const { return out_; }
  const PagedAdjacency& in() const { return directed_ ? in_ : out_; }

  // Throws GraphError if the file changed since it was opened: an answer from it may be wrong.
  void check_unchanged() const {
    if (check_) check_();
  }

 private:
  PagedGraph(Engine& engine, bool directed, Weights weights, std::uint64_t vertices,
             std::uint64_t edges, const Part& part);

  Engine& engine_;
  Exchange* exchange_;
  int device_ = 0;
  Stream stream_;
  bool directed_ = false;
  Weights weights_ = Weights::none;
  std::uint64_t vertices_ = 0;
  std::uint64_t edges_ = 0;
  std::vector<std::uint64_t> bounds_;
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
