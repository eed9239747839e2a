#include "apps/graph/level_schedule.hpp"

#include <algorithm>

#include "kernels/visit.hpp"

namespace holdall::graph {

namespace {

constexpr double sector = 32;  // bytes, what the link carries at the least

// Blocks of a GPU that read in place: few, so that what is under way lies close together. Lists
// that are read whole keep a block some 8 KiB under way, and together they should stay within 64
// MiB, past which translating addresses becomes slower than the link. One H200, BFS over half of
// urand 27, 64 and 256 blocks: top-down 319 and 233 ms, bottom-up (lists read in part) 101 and 127
// ms.
constexpr double few = 64;
constexpr double most = 256;

}  // namespace

LevelSchedule::LevelSchedule(VertexData& data, const PagedGraph& graph, bool weighted)
    : graph_(graph),
      weighted_(weighted),
      beside_(graph),
      ranges_(data, graph.most_chunks(), "item ranges"),
      ranges_beside_(data, graph.most_chunks(), "item ranges in place", beside_.stream()),
      spans_(data, graph.most_chunks(), "edge spans") {
  const std::uint64_t chunks = graph.most_chunks();
  const std::uint64_t items = graph.vertices() + chunks;
  item_vertices_ = data.array<Vertex>(items, "item vertices");
  item_begins_ = data.array<std::uint64_t>(items, "item begins");
  item_scan_ = data.array<std::uint64_t>(items + 1, "item scan");
  chunk_items_ = data.array<std::uint64_t>(chunks + 1, "items by chunk");
  chunk_edges_ = data.array<std::uint64_t>(chunks, "edges by chunk");
  chunk_bitmap_ = data.array<std::uint64_t>(kernels::bitmap_words(chunks), "demanded chunks");
  workspace_ = data.array<std::byte>(
      kernels::demand_workspace_bytes(graph.vertices(), chunks, graph.stream()),
      "demand workspace");
  const auto visit_workspace = [&](const char* what) {
    return data.array<std::byte>(kernels::visit_workspace_bytes(
                                     graph.vertices(), graph.most_edges(), chunks, graph.stream()),
                                 what);
  };
  visit_workspace_ = visit_workspace("workspace");
  visit_workspace_beside_ = visit_workspace("workspace in place");
  Engine& engine = graph.engine();
  const auto seen = [&](std::uint64_t count, const char* what) {
    return engine.host_array<std::uint64_t>(std::max<std::uint64_t>(count, 1), what);
  };
  seen_items_ = seen(chunks + 1, "items by chunk");
  seen_edges_ = seen(chunks, "edges by chunk");
  seen_bitmap_ = seen(kernels::bitmap_words(chunks), "demanded chunks");
  for (std::vector<double>& paid : paid_) paid.assign(chunks, 0);
}

std::uint64_t LevelSchedule::count(const PagedAdjacency& edges, const kernels::Frontier& frontier) {
  edges_ = &edges;
  grid_ = {edges.edges, edges.neighbours.chunk_bytes(), 0};
  const std::uint64_t chunks = grid_.chunks();
  if (chunks == 0) return 0;
  const Stream stream = graph_.stream();
  const kernels::ChunkDemand demand{chunk_items_.data(), chunk_edges_.data(), chunk_bitmap_.data()};
  kernels::demand_of_frontier(
      frontier, edges.offsets.data(), grid_,
      {item_vertices_.size(), item_vertices_.data(), item_begins_.data(), item_scan_.data()},
      demand, workspace_.data(), stream);
  const vmm::Copy copies[] = {
      {seen_items_.data(), demand.items, (chunks + 1) * 8},
      {seen_edges_.data(), demand.edges, chunks * 8},
      {seen_bitmap_.data(), demand.bitmap, kernels::bitmap_words(chunks) * 8}};
  for (const vmm::Copy& copy : copies)
    vmm::check(graph_.engine().driver().copy(copy.to, copy.from, copy.bytes, stream),
               "read the demand of a frontier");
  graph_.engine().synchronize(stream);
  std::uint64_t all = 0;
  for (std::uint64_t c = 0; c < chunks; ++c) all += seen_edges_[c];
  return all;
}

Passes LevelSchedule::passes_over(const PagedAdjacency& edges, const ChunkSet& chunks) {
  return weighted_ ? graph_.engine().passes_together(graph_.stream(), chunks, edges.neighbours,
                                                     edges.weights)
                   : graph_.engine().passes(graph_.stream(), {read(edges.neighbours, chunks)});
}

double LevelSchedule::chunk_bytes_of(const PagedAdjacency& edges) const {
  return static_cast<double>(edges.neighbours.chunk_bytes() +
                             (weighted_ ? edges.weights.chunk_bytes() : 0));
}

double LevelSchedule::room() const {
  double bytes = 0;
  const Stats stats = graph_.engine().stats();
  for (std::size_t i = 0; i < stats.devices.size(); ++i) {
    // Where the graph is split, the other devices are the other parts'.
    if (graph_.exchange().parts() > 1 && static_cast<int>(i) != graph_.device()) continue;
    const DeviceStats& device = stats.devices[i];
    if (device.resident < device.budget)
      bytes += static_cast<double>(device.budget - device.resident);
  }
  return bytes;
}

// About what choose() would move, of what is missing.
double LevelSchedule::to_move(Passes& passes, const PagedAdjacency& edges,
                              const Needed& needed) const {
  const double chunk_bytes = chunk_bytes_of(edges);
  double moved = 0;
  passes.leave_out([&](const RangeState&, std::uint64_t chunk) {
    const double bytes = needed(chunk);
    const bool in_place =
        edges.neighbours_in_place != nullptr && bytes < options_.paged_from * chunk_bytes;
    moved += in_place ? bytes : chunk_bytes;
    return false;
  });
  return moved;
}

// Takes out of `passes` what is to be read in place.
void LevelSchedule::choose(Passes& passes, const PagedAdjacency& edges, const Needed& needed) {
  in_place_.clear();
  if (edges.neighbours_in_place == nullptr || options_.paged_from <= 0) return;
  const double chunk_bytes = chunk_bytes_of(edges);
  // Where there are frames that nobody uses, a chunk is worth one once as much has been read of it
  // in place as paging it would have taken: that is twice the least at the worst, and pays from the
  // next level or run on. Where all of it will be read anyhow, at once, if the level is no small
  // one.
  double room = this->room();
  std::vector<double>& paid = paid_[graph_.directed() && &edges == &graph_.in()];
  passes.leave_out([&](const RangeState&, std::uint64_t chunk) {
    const double bytes = needed(chunk);
    const bool worth_a_frame =
        options_.each_once ? bytes >= chunk_bytes / 8 : paid[chunk] + bytes >= chunk_bytes;
    const bool in_room = worth_a_frame && room >= chunk_bytes;
    if (options_.paged_from <= 1 && (bytes >= options_.paged_from * chunk_bytes || in_room)) {
      paid[chunk] = 0;
      room -= chunk_bytes;
      return false;
    }
    paid[chunk] += bytes;
    in_place_.push_back(chunk);
    return true;
  });
}

// For lists read whole, of which the chunks read in place have so much.
unsigned LevelSchedule::blocks_for(double density) const {
  if (options_.blocks > 0) return options_.blocks;
  return static_cast<unsigned>(std::clamp(density * (64 << 20) / (8 << 10), few, most));
}

LevelWork LevelSchedule::work(const std::function<void(const EdgeWork&)>& step, double edges_each,
                              Bytes most_moved) {
  LevelWork did;
  const std::uint64_t chunks = grid_.chunks();
  if (chunks == 0) return did;
  const PagedAdjacency& edges = *edges_;
  const double edge_bytes = sizeof(Vertex) + (weighted_ ? sizeof(std::uint32_t) : 0);
  const auto chunk_bytes = static_cast<double>(edges.neighbours.chunk_bytes());
  const double edges_in_chunk = chunk_bytes / sizeof(Vertex);
  const auto needed = [&](std::uint64_t c) {
    const auto items = static_cast<double>(seen_items_[c + 1] - seen_items_[c]);
    // A list begins and ends within a sector, which it shares with the next if that is read too.
    const auto edges_here = static_cast<double>(seen_edges_[c]);
    const double next = edges_each < edges_here ? 0 : edges_here / edges_in_chunk;
    return std::min(edges_here, items * edges_each) * edge_bytes +
           items * (weighted_ ? 2 * sector - edge_bytes : sector - edge_bytes) * (1 - next);
  };
  EdgeWork work;
  work.items = {item_vertices_.size(), item_vertices_.data(), item_begins_.data(),
                item_scan_.data()};
  std::vector<kernels::ItemRange> ranges;
  const auto add = [&](std::uint64_t first, std::uint64_t count) {
    const std::uint64_t begin = seen_items_[first];
    const std::uint64_t items = seen_items_[first + count] - begin;
    if (!ranges.empty() && ranges.back().first + ranges.back().count == begin)
      ranges.back().count += items;
    else
      ranges.push_back({begin, items});
    work.pass.items += items;
    for (std::uint64_t c = first; c < first + count; ++c) work.pass.edges += seen_edges_[c];
  };
  const auto launch = [&](DeviceList<kernels::ItemRange>& list) {
    work.pass.ranges = list.send(ranges);
    work.pass.ranges_count = ranges.size();
    step(work);
    list.launched();
    did.edges += work.pass.edges;
    ranges.clear();
    work.pass = {};
  };

  // 1. what is paged, what is read in place, what is left
  const ChunkSet set(std::span<const std::uint64_t>(seen_bitmap_.data(), seen_bitmap_.size()),
                     chunks);
  Passes passes = passes_over(edges, set);
  if (most_moved < ~Bytes{0} && to_move(passes, edges, needed) > static_cast<double>(most_moved)) {
    in_place_.clear();
    passes.leave_out([&](const RangeState&, std::uint64_t chunk) {
      did.edges_left += seen_edges_[chunk];
      return true;
    });
  } else {
    choose(passes, edges, needed);
  }

  // 2. what is read in place
  const bool in_place = !in_place_.empty();
  if (in_place) {
    for (const std::uint64_t c : in_place_) {
      add(c, 1);
      did.bytes_in_place += static_cast<Bytes>(needed(c));
    }
    did.edges_in_place = work.pass.edges;
    const bool whole = edges_each == std::numeric_limits<double>::infinity();
    work.pass.blocks = blocks_for(whole ? static_cast<double>(did.bytes_in_place) /
                                              (static_cast<double>(in_place_.size()) * chunk_bytes)
                                        : 0);
    work.stream = beside_.stream();
    work.workspace = visit_workspace_beside_.data();
    work.neighbours = edges.neighbours_in_place;
    work.weights = weighted_ ? edges.weights_in_place : nullptr;
    beside_.begin();
    launch(ranges_beside_);
  }

  // 3. what is resident, and what is paged meanwhile
  work.stream = graph_.stream();
  work.workspace = visit_workspace_.data();
  work.neighbours = edges.neighbours.data();
  work.weights = weighted_ ? edges.weights.data() : nullptr;
  while (passes.next()) {
    for (const Need& part : passes.parts())
      if (part.range == &edges.neighbours.state()) add(part.run.first, part.run.count);
    launch(ranges_);
  }
  if (in_place) beside_.end();
  return did;
}

}  // namespace holdall::graph
