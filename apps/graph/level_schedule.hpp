// Brings the edges that a frontier needs to the kernels, whatever the algorithm. What a level needs
// of each chunk is counted on the device; then
//
//   - chunks that are resident are worked on first, while others come,
//   - chunks of which much is needed are paged, ahead of the work on them,
//   - of the others, what is needed is read where it lies, in pinned host memory, over the link: in
//     the order of the edges and by few blocks, which the link likes best, beside the other work,
//   - nothing else moves.
//
//   LevelSchedule schedule(data, graph);
//   schedule.count(graph.out(), {frontier, count});
//   LevelWork did = schedule.work([&](const EdgeWork& work) {
//     state.neighbours = work.neighbours;
//     state.workspace = work.workspace;
//     kernels::bfs_expand(state, work.items, work.pass, work.stream);
//   });
//
// Graphs in a file have no place to read a part of a chunk from, and are paged only.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "apps/graph/beside.hpp"
#include "apps/graph/device_list.hpp"
#include "apps/graph/paged_graph.hpp"
#include "kernels/demand.hpp"

namespace holdall::graph {

struct ScheduleOptions {
  // A chunk that is not resident is paged if at least this share of its bytes is needed. The
  // default is the rate of sorted reads in place over that of paging, some 42 and 53 GB/s on an
  // H200. 0: all is paged; above 1: nothing is.
  double paged_from = 0.8;
  // Of a GPU, for what is read in place. 0: few, and as many as the link likes for lists that are
  // read whole.
  unsigned blocks = 0;
  // A run reads nearly every edge, and each once: what of a chunk is not needed now will be.
  bool each_once = false;
};

// What a step is to work on, where it finds the edges, and where it is to be launched: what is read
// in place runs at the same time as the rest.
struct EdgeWork {
  kernels::WorkItems items;
  kernels::ItemPass pass;
  Stream stream;
  void* workspace = nullptr;  // of kernels::visit_workspace_bytes
  const Vertex* neighbours = nullptr;
  const std::uint32_t* weights = nullptr;
};
struct SweepWork {
  kernels::EdgePass pass;
  unsigned blocks = 0;  // as in ItemPass
  const Vertex* neighbours = nullptr;
};

struct LevelWork {
  std::uint64_t edges = 0;           // of the work handed out
  std::uint64_t edges_in_place = 0;  // of which not through paging
  Bytes bytes_in_place = 0;          // that they took of the link, about
  std::uint64_t edges_left = 0;      // of the work that was not, being over a limit

  LevelWork& operator+=(const LevelWork& other) {
    edges += other.edges;
    edges_in_place += other.edges_in_place;
    bytes_in_place += other.bytes_in_place;
    edges_left += other.edges_left;
    return *this;
  }
};

class LevelSchedule {
 public:
  // `weighted`: steps need the weights of the out-edges too. Takes about 16 bytes and an id a
  // vertex of `data`, to be leased before use.
  LevelSchedule(VertexData& data, const PagedGraph& graph, bool weighted = false);

  void set(const ScheduleOptions& options) { options_ = options; }
  // Of kernels::visit_workspace_bytes, for work on the graph's stream while no step runs.
  void* workspace() const { return visit_workspace_.data(); }

  // The edges that `frontier` has in `edges`, graph.out() or graph.in(). Waits.
  std::uint64_t count(const PagedAdjacency& edges, const kernels::Frontier& frontier);

  // Calls `step` until all of what was counted last has been handed out; each call puts the work
  // that it is given on the stream that it is given: what then comes on the graph's follows all.
  // `edges_each`: how many of an item's edges the step will read, about, if not all. `most_moved`:
  // where more bytes than that would have to come over the link, only what is resident is handed
  // out. Throws as Engine::passes does.
  LevelWork work(const std::function<void(const EdgeWork&)>& step,
                 double edges_each = std::numeric_limits<double>::infinity(),
                 Bytes most_moved = ~Bytes{0});

  // The same over all edges, of which the steps will read about `share`.
  LevelWork sweep(const PagedAdjacency& edges, double share,
                  const std::function<void(const SweepWork&)>& step);

  // Makes chunks resident, spread evenly, until so many are, as far as there are frames that nobody
  // uses. Answers how many are then.
  std::uint64_t fill(const PagedAdjacency& edges, std::uint64_t chunks);

 private:
  // Of a chunk: bytes that will be read.
  using Needed = std::function<double(std::uint64_t chunk)>;
  double room() const;                                       // bytes of frames that nobody uses
  double chunk_bytes_of(const PagedAdjacency& edges) const;  // neighbours, and weights if used
  unsigned blocks_for(double density) const;
  double to_move(Passes& passes, const PagedAdjacency& edges, const Needed& needed) const;
  void choose(Passes& passes, const PagedAdjacency& edges, const Needed& needed);
  Passes passes_over(const PagedAdjacency& edges, const ChunkSet& chunks);

  const PagedGraph& graph_;
  const bool weighted_;
  ScheduleOptions options_;
  const PagedAdjacency* edges_ = nullptr;  // counted last
  kernels::ChunkGrid grid_;
  VertexArray<Vertex> item_vertices_;
  VertexArray<std::uint64_t> item_begins_, item_scan_, chunk_items_, chunk_edges_, chunk_bitmap_;
  VertexArray<std::byte> workspace_;
  HostArray<std::uint64_t> seen_items_, seen_edges_, seen_bitmap_;
  Beside beside_;
  VertexArray<std::byte> visit_workspace_, visit_workspace_beside_;
  DeviceList<kernels::ItemRange> ranges_, ranges_beside_;
  DeviceList<kernels::EdgeSpan> spans_;
  std::vector<std::uint64_t> in_place_;  // chunks, ascending
  std::vector<double> paid_[2];  // out, in: bytes of a chunk read in place since it was last paged
};

}  // namespace holdall::graph
