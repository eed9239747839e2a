#include "apps/graph/bfs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "apps/graph/error.hpp"
#include "kernels/demand.hpp"

namespace holdall::graph {

namespace {

kernels::ChunkGrid grid_of(const PagedGraph& graph) {
  return {graph.edges(), graph.out().neighbours.chunk_bytes(), 0};
}

double seconds_since(std::chrono::steady_clock::time_point began) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

}  // namespace

Bfs::Bfs(const PagedGraph& graph) : graph_(graph), grid_(grid_of(graph)) {
  Engine& engine = graph.engine();
  const Stream stream = graph.stream();
  const std::uint64_t n = graph.vertices();
  const std::uint64_t chunks = grid_.chunks();
  const std::uint64_t words = kernels::bitmap_words(n);
  const std::uint64_t items = n + chunks;
  VertexData data(engine, stream, "BFS");
  parents_ = data.array<std::uint32_t>(n, "parents");
  frontier_ = data.array<std::uint32_t>(n, "frontier");
  reached_ = data.array<std::uint64_t>(words, "reached");
  settled_ = data.array<std::uint64_t>(words, "settled");
  item_vertices_ = data.array<std::uint32_t>(items, "item vertices");
  item_begins_ = data.array<std::uint64_t>(items, "item begins");
  item_scan_ = data.array<std::uint64_t>(items + 1, "item scan");
  chunk_items_ = data.array<std::uint64_t>(chunks + 1, "items by chunk");
  chunk_edges_ = data.array<std::uint64_t>(chunks, "edges by chunk");
  chunk_bitmap_ = data.array<std::uint64_t>(kernels::bitmap_words(chunks), "demanded chunks");
  workspace_ = data.array<std::byte>(
      kernels::bfs_workspace_bytes(n, graph.edges(), chunks / 2 + 1, stream), "BFS workspace");
  demand_workspace_ =
      data.array<std::byte>(kernels::demand_workspace_bytes(n, chunks, stream), "demand workspace");
  ranges_.emplace(data, chunks / 2 + 1, "item ranges");
  lease_ = data.lease(graph.out().neighbours.chunk_bytes());
  seen_items_ = engine.host_array<std::uint64_t>(chunks + 1, "items by chunk");
  seen_edges_ =
      engine.host_array<std::uint64_t>(std::max<std::uint64_t>(chunks, 1), "edges by chunk");
  seen_bitmap_ = engine.host_array<std::uint64_t>(
      std::max<std::uint64_t>(kernels::bitmap_words(chunks), 1), "demanded chunks");
}

BfsResult Bfs::run(std::uint64_t source, const Watch& watch) {
  if (source >= graph_.vertices())
    throw GraphError(fmt::format("there is no vertex {} to start from: the graph has {}, from 0 on",
                                 source, graph_.vertices()));
  Engine& engine = graph_.engine();
  vmm::Driver& driver = engine.driver();
  const Stream stream = graph_.stream();
  const std::uint64_t chunks = grid_.chunks();
  const kernels::BfsState state{graph_.vertices(), graph_.out().neighbours.data(),
                                parents_.data(),   frontier_.data(),
                                reached_.data(),   settled_.data(),
                                workspace_.data()};
  const kernels::WorkItems items{item_vertices_.size(), item_vertices_.data(), item_begins_.data(),
                                 item_scan_.data()};
  const kernels::ChunkDemand demand{chunk_items_.data(), chunk_edges_.data(), chunk_bitmap_.data()};
  BfsResult result;
  const auto began = std::chrono::steady_clock::now();
  std::uint64_t count = kernels::bfs_start(state, static_cast<Vertex>(source), stream);
  while (count > 0) {
    const auto level_began = std::chrono::steady_clock::now();
    const Traffic before = watch ? static_cast<Traffic>(engine.stats()) : Traffic{};
    std::uint64_t edges = 0;
    result.reached += count;
    // 1. which chunks the frontier's neighbours are in
    if (chunks > 0) {
      kernels::demand_of_frontier({frontier_.data(), count}, graph_.out().offsets.data(), grid_,
                                  items, demand, demand_workspace_.data(), stream);
      const vmm::Copy copies[] = {
          {seen_items_.data(), demand.items, (chunks + 1) * 8},
          {seen_edges_.data(), demand.edges, chunks * 8},
          {seen_bitmap_.data(), demand.bitmap, kernels::bitmap_words(chunks) * 8}};
      for (const vmm::Copy& copy : copies)
        vmm::check(driver.copy(copy.to, copy.from, copy.bytes, stream),
                   "read the demand of a frontier");
      engine.synchronize(stream);
      // 2. pass by pass, the edges in them
      const ChunkSet set(std::span<const std::uint64_t>(seen_bitmap_.data(), seen_bitmap_.size()),
                         chunks);
      std::vector<kernels::ItemRange> ranges;
      for (Passes passes = engine.passes(stream, {read(graph_.out().neighbours, set)});
           passes.next();) {
        kernels::ItemPass pass;
        ranges.clear();
        for (const Need& part : passes.parts()) {
          const std::uint64_t first = seen_items_[part.run.first];
          ranges.push_back({first, seen_items_[part.run.first + part.run.count] - first});
          for (std::uint64_t c = part.run.first; c < part.run.first + part.run.count; ++c)
            pass.edges += seen_edges_[c];
        }
        pass.ranges = ranges_->send(ranges);
        pass.ranges_count = ranges.size();
        kernels::bfs_expand(state, items, pass, stream);
        ranges_->launched();
        edges += pass.edges;
      }
    }
    // 3. the next frontier
    const std::uint64_t frontier = count;
    count = kernels::bfs_next_frontier(state, stream);
    result.edges += edges;
    ++result.levels;
    if (watch)
      watch({result.levels, frontier, edges, 0, seconds_since(level_began),
             static_cast<Traffic>(engine.stats()) - before});
  }
  engine.synchronize(stream);
  graph_.check_unchanged();
  result.seconds = seconds_since(began);
  result.parents.resize(graph_.vertices());
  parents_.store(result.parents);
  return result;
}

}  // namespace holdall::graph
