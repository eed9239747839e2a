#include "apps/graph/plan.hpp"

#include <algorithm>
#include <bit>

#include "kernels/demand.hpp"
#include "kernels/pagerank.hpp"
#include "kernels/visit.hpp"

namespace holdall::graph {

namespace {

constexpr std::uint64_t lists = 4;  // of a DeviceList

// Adds up vertex arrays as VertexData makes them, in chunks of their own.
class Arrays {
 public:
  explicit Arrays(Bytes memory) : memory_(memory) {}
  Arrays& add(std::uint64_t count, Bytes element_bytes) {
    const Bytes size = std::max<std::uint64_t>(count, 1) * element_bytes;
    const Bytes chunk =
        std::bit_floor(std::clamp<Bytes>(std::min(size, memory_) / 16, 2_MiB, 64_MiB));
    bytes_ += round_up(size, chunk);
    return *this;
  }
  Bytes bytes() const { return bytes_; }

 private:
  const Bytes memory_;
  Bytes bytes_ = 0;
};

// A part of the graph, as an algorithm sees it.
struct Part {
  const PlanInput& input;
  std::uint64_t vertices, own_vertices, edges, chunks;
  std::uint64_t words() const { return kernels::bitmap_words(vertices); }
};

// What the constructor of each makes, in its order.
void add_schedule(Arrays& all, const Part& g) {
  const Stream stream = g.input.stream;
  const std::uint64_t items = g.vertices + g.chunks;
  const Bytes workspace = kernels::visit_workspace_bytes(g.vertices, g.edges, g.chunks, stream);
  all.add(lists * g.chunks, sizeof(kernels::ItemRange))
      .add(lists * g.chunks, sizeof(kernels::ItemRange))
      .add(lists * g.chunks, sizeof(kernels::EdgeSpan))
      .add(items, sizeof(Vertex))
      .add(items, 8)
      .add(items + 1, 8)
      .add(g.chunks + 1, 8)
      .add(g.chunks, 8)
      .add(kernels::bitmap_words(g.chunks), 8)
      .add(kernels::demand_workspace_bytes(g.vertices, g.chunks, stream), 1)
      .add(workspace, 1)
      .add(workspace, 1);
}
void add_bfs(Arrays& all, const Part& g) {
  all.add(g.vertices, sizeof(Vertex)).add(g.vertices, sizeof(Vertex));
  all.add(g.words(), 8).add(g.words(), 8).add(g.words(), 8);
}
void add_sssp(Arrays& all, const Part& g) {
  all.add(g.vertices, 4).add(g.vertices, sizeof(Vertex));
  all.add(g.words(), 8).add(g.words(), 8).add(2, 4);
}
void add_pagerank(Arrays& all, const Part& g) {
  const std::uint64_t spans = g.chunks / 2 + 1;
  all.add(g.own_vertices, 4)
      .add(g.vertices, 4)
      .add(g.own_vertices, 4)
      .add(kernels::pagerank_workspace_bytes(g.edges, spans, g.input.stream), 1)
      .add(lists * spans, sizeof(kernels::EdgeSpan));
}
void add_components(Arrays& all, const Part& g) {
  all.add(g.vertices, sizeof(Vertex)).add(g.vertices, sizeof(Vertex));
  all.add(g.words(), 8).add(g.words(), 8);
  if (g.own_vertices < g.vertices) all.add(g.vertices, sizeof(Vertex));
}
void add_centrality(Arrays& all, const Part& g) {
  all.add(g.vertices, 8).add(g.vertices, 8).add(g.vertices, 8);
  all.add(g.vertices, 4).add(g.vertices, sizeof(Vertex)).add(g.words(), 8);
}
void add_triangles(Arrays& all, const Part&) { all.add(1, 8); }
void add_kcore(Arrays& all, const Part& g) {
  all.add(g.vertices, 4).add(g.vertices, 4).add(g.vertices, sizeof(Vertex));
  all.add(1, 4).add(g.words(), 8);
}

struct Needs {
  const char* name;
  void (*add_state)(Arrays& all, const Part& g);
  bool schedules;       // its levels (level_schedule.hpp)
  bool splits;          // over devices
  bool in_offsets;      // of a directed graph, beside those out
  unsigned directions;  // of a directed graph's edges, that a pass reads
  bool weighted;
  bool directed;    // takes directed graphs
  unsigned chunks;  // of each array of edges, the least that it works with
};
constexpr Needs all_needs[] = {
    {"bfs", add_bfs, true, true, true, 1, false, true, 1},
    {"sssp", add_sssp, true, true, false, 1, true, true, 1},
    {"pagerank", add_pagerank, false, true, true, 1, false, true, 1},
    {"cc", add_components, true, true, true, 2, false, true, 1},
    {"bc", add_centrality, true, false, false, 1, false, true, 1},
    {"tc", add_triangles, false, false, false, 1, false, false, 4},  // two groups of lists
    {"kcore", add_kcore, true, false, false, 1, false, false, 1},
};

AlgorithmPlan plan_of(const Needs& needs, const PlanInput& input) {
  AlgorithmPlan plan;
  plan.name = needs.name;
  plan.possible = (!needs.weighted || input.weighted) && (needs.directed || !input.directed);
  // 1. what stays in memory: each part has all vertices
  const std::uint64_t parts = needs.splits ? input.devices : 1;
  Part part{input, input.vertices, (input.vertices + parts - 1) / parts,
            (input.edges + parts - 1) / parts, 0};
  // Of as many neighbours as a chunk has weights.
  const Bytes chunk =
      needs.weighted ? input.chunk * sizeof(Vertex) / sizeof(std::uint32_t) : input.chunk;
  part.chunks = round_up(std::max<Bytes>(part.edges, 1) * sizeof(Vertex), chunk) / chunk;
  Arrays offsets(input.memory / input.devices), state(input.memory / input.devices);
  for (bool in : {false, true})
    if (!in || (input.directed && needs.in_offsets))
      offsets.add(input.vertices + 1, sizeof(std::uint64_t));
  needs.add_state(state, part);
  if (needs.schedules) add_schedule(state, part);
  plan.offsets = parts * offsets.bytes();
  plan.state = parts * state.bytes();
  // 2. what comes and goes, by whole chunks
  plan.edges = input.edges * (sizeof(Vertex) + (needs.weighted ? sizeof(std::uint32_t) : 0)) *
               (input.directed ? needs.directions : 1);
  const Bytes always = plan.offsets + plan.state;
  const std::uint64_t least =
      std::max<std::uint64_t>(1, std::min<std::uint64_t>(part.chunks, needs.chunks));
  plan.needed = always + parts * (least * chunk + (needs.weighted ? input.chunk : 0));
  plan.fits = plan.possible && plan.needed <= input.memory;
  if (plan.fits) {
    const std::uint64_t frames = (input.memory - always) / input.chunk;
    plan.resident = std::min(plan.edges, frames * input.chunk);
  }
  plan.paged = plan.edges - plan.resident;
  if (plan.fits && input.link_rate > 0)
    plan.seconds = static_cast<double>(plan.paged) / input.link_rate;
  return plan;
}

}  // namespace

std::vector<AlgorithmPlan> plan(const PlanInput& input) {
  std::vector<AlgorithmPlan> plans;
  for (const Needs& needs : all_needs) plans.push_back(plan_of(needs, input));
  return plans;
}

}  // namespace holdall::graph
