#include "apps/graph/reach.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace holdall::graph {

namespace {

// A level is small, and may bring what it misses, with less than this share of the edges.
constexpr std::uint64_t small = 256;
// So few edges of vertices that were not found are not worth another level.
constexpr std::uint64_t rest = 1024;
// Rows that are made resident, where there is room, before the search goes over resident rows: with
// 30 edges a vertex they lead to 98 of 100.
constexpr std::uint64_t filled = 8;
// Bottom-up once the rest has fewer than so many times the edges of what was found (Bfs).
constexpr std::uint64_t alpha = 15;

class Reach {
 public:
  Reach(const PagedGraph& graph, LevelSchedule& schedule, const kernels::BfsState& state,
        const VertexArray<std::uint64_t>& reached, StepClock& clock)
      : graph_(graph), schedule_(schedule), state_(state), reached_(reached), clock_(clock) {
    sides_.push_back(&graph.out());
    if (graph.directed()) sides_.push_back(&graph.in());
    edges_ = graph.edges() * sides_.size();
  }

  void run(Vertex source) {
    state_.front = nullptr;
    kernels::bfs_start(state_, source, graph_.stream());
    if (over_resident()) over_all();
  }

 private:
  std::uint64_t sum(std::uint64_t mine) { return graph_.exchange().sum(mine); }

  // Of the first `count` vertices of the list.
  std::uint64_t edges_of(std::uint64_t count) {
    std::uint64_t edges = 0;
    for (const PagedAdjacency* side : sides_)
      edges += schedule_.count(*side, graph_.own(state_.frontier, count, state_.workspace));
    return sum(edges);
  }

  // After edges_of(count).
  LevelWork along(std::uint64_t count, bool pull, double each, Bytes most_moved) {
    LevelWork did;
    for (const PagedAdjacency* side : sides_) {
      if (sides_.size() > 1)
        schedule_.count(*side, graph_.own(state_.frontier, count, state_.workspace));
      kernels::BfsState state = state_;
      if (pull) state.front = state.settled;  // whoever was found before, whenever
      did += schedule_.work(
          [&](const EdgeWork& work) {
            state.neighbours = work.neighbours;
            state.workspace = work.workspace;
            if (pull)
              kernels::bfs_pull(state, work.items, work.pass, work.stream);
            else
              kernels::bfs_expand(state, work.items, work.pass, work.stream);
          },
          each, most_moved);
    }
    return did;
  }
  LevelWork expand(std::uint64_t count, Bytes most_moved) {
    return along(count, false, std::numeric_limits<double>::infinity(), most_moved);
  }

  std::uint64_t next() {
    graph_.exchange().unite(reached_);
    const std::uint64_t count = kernels::bfs_next_frontier(state_, graph_.stream());
    found_ += count;
    return count;
  }

  bool grows(std::uint64_t frontier, std::uint64_t next) const {
    const std::uint64_t n = graph_.vertices();
    return next > 0 && (found_ < n / 64 ? next >= 2 * frontier : next >= n / 1024);
  }

  // Chunks that are resident now, in shares of `filled`.
  std::uint64_t fill() {
    std::uint64_t chunks = 0, resident = 0;
    for (const PagedAdjacency* side : sides_) {
      if (side->edges == 0) continue;
      const std::uint64_t its = side->neighbours.chunks();
      chunks += its;
      resident += schedule_.fill(*side, (its + filled - 1) / filled);
    }
    return sum(resident) * filled / std::max<std::uint64_t>(sum(chunks), 1);
  }

  // Top-down from the source; large levels over resident rows alone. Whether there is more to find.
  bool over_resident() {
    Bytes most_moved = edges_ * sizeof(Vertex) / small;
    std::uint64_t resident = 0;
    bool cut = false;
    for (std::uint64_t count = 1;;) {
      clock_.begin();
      const std::uint64_t edges = edges_of(count);
      if (most_moved > 0 && edges > edges_ / small) {
        resident = fill();
        most_moved = 0;
      }
      // Nearly all rows are resident, and bottom-up is the shorter way.
      if (resident + 1 >= filled && edges > edges_ / alpha) return true;
      LevelWork did = expand(count, most_moved);
      if (most_moved > 0 && sum(did.edges_left) > 0) {
        fill();
        most_moved = 0;
        did = expand(count, most_moved);
      }
      cut = sum(did.edges_left) > 0 || cut;
      const std::uint64_t found = next();
      clock_.end(count, did);
      if (!grows(count, found)) return cut || found_ >= graph_.vertices() / 64;
      count = found;
    }
  }

  // From either side, whatever has to come.
  void over_all() {
    const Stream stream = graph_.stream();
    const auto list = [&](const std::uint64_t* bits, bool value) {
      return kernels::list_vertices(bits, value, graph_.vertices(), state_.frontier,
                                    state_.workspace, stream);
    };
    for (;;) {
      clock_.begin();
      std::uint64_t count = list(state_.reached, false);
      const std::uint64_t left = edges_of(count);
      if (left <= edges_ / rest) return;
      const bool pull = edges_ - left > left / alpha;
      LevelWork did;
      if (pull) {
        const auto n = static_cast<double>(graph_.vertices());
        const double each = std::max(8.0, n / static_cast<double>(found_));
        did = along(count, true, each, ~Bytes{0});
      } else {
        count = list(state_.settled, true);
        edges_of(count);
        did = expand(count, ~Bytes{0});
      }
      const std::uint64_t found = next();
      clock_.end(count, did, pull);
      if (found == 0 || (pull ? found < count / 8 : !grows(count, found))) return;
    }
  }

  const PagedGraph& graph_;
  LevelSchedule& schedule_;
  kernels::BfsState state_;
  const VertexArray<std::uint64_t>& reached_;
  StepClock& clock_;
  std::vector<const PagedAdjacency*> sides_;
  std::uint64_t edges_ = 0;  // of all sides, of all parts
  std::uint64_t found_ = 1;
};

}  // namespace

void reach(const PagedGraph& graph, LevelSchedule& schedule, const kernels::BfsState& state,
           const VertexArray<std::uint64_t>& reached, Vertex source, StepClock& clock) {
  Reach(graph, schedule, state, reached, clock).run(source);
}

}  // namespace holdall::graph
