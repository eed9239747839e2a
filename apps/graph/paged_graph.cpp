#include "apps/graph/paged_graph.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <span>

#include "apps/graph/checked_neighbours.hpp"

namespace holdall::graph {

namespace {

// Room for one direction of the edges, nothing in it yet.
PagedAdjacency reserve(VertexData& data, std::uint64_t vertices, std::uint64_t edges,
                       const BackingSpec& backing, const std::string& direction, Bytes chunk) {
  return {data.array<std::uint64_t>(vertices + 1, direction + " offsets"),
          data.engine().reserve<Vertex>(std::max<std::uint64_t>(edges, 1),
                                        {.name = direction + " neighbours",
                                         .backing = backing,
                                         .chunk = chunk,
                                         .cold = Cold::unmapped})};
}

PagedAdjacency reserve(VertexData& data, const GraphFile& file, const FileAdjacency& adjacency,
                       const char* direction, Bytes chunk) {
  return reserve(
      data, file.vertices, adjacency.neighbours.count,
      adjacency.neighbours.count > 0 ? checked_neighbours(file, adjacency.neighbours) : zeros(),
      direction, chunk);
}

PagedAdjacency reserve(VertexData& data, const Adjacency& adjacency, const char* direction,
                       Bytes chunk) {
  return reserve(data, adjacency.offsets.size() - 1, adjacency.neighbours.size(),
                 adjacency.neighbours.empty() ? zeros() : pinned(), direction, chunk);
}

void load(Engine& engine, PagedAdjacency& paged, const Adjacency& adjacency) {
  paged.offsets.load(adjacency.offsets);
  if (!adjacency.neighbours.empty())
    std::ranges::copy(adjacency.neighbours, engine.contents(paged.neighbours));
}

}  // namespace

PagedGraph::PagedGraph(Engine& engine, const GraphFile& file, const Options& options)
    : engine_(engine),
      stream_(engine.stream()),
      directed_(file.directed),
      vertices_(file.vertices),
      edges_(file.edges),
      check_([file] { graph::check_unchanged(file); }) {
  const bool out = options.out || !directed_;
  const bool in = options.in && directed_;
  VertexData data(engine, stream_, "the graph's offsets");
  if (out) out_ = reserve(data, file, file.out, "out", options.chunk);
  if (in) in_ = reserve(data, file, file.in, "in", options.chunk);
  lease_ = data.lease(out ? out_.neighbours.chunk_bytes() : in ? in_.neighbours.chunk_bytes() : 0);
  if (out) out_.offsets.load(load_offsets(file, file.out));
  if (in) in_.offsets.load(load_offsets(file, file.in));
}

PagedGraph::PagedGraph(Engine& engine, const Csr& csr, const Options& options)
    : engine_(engine),
      stream_(engine.stream()),
      directed_(csr.directed),
      vertices_(csr.vertices()),
      edges_(csr.edges()) {
  const bool out = options.out || !directed_;
  const bool in = options.in && directed_;
  VertexData data(engine, stream_, "the graph's offsets");
  if (out) out_ = reserve(data, csr.out, "out", options.chunk);
  if (in) in_ = reserve(data, csr.transposed, "in", options.chunk);
  lease_ = data.lease(out ? out_.neighbours.chunk_bytes() : in ? in_.neighbours.chunk_bytes() : 0);
  if (out) load(engine, out_, csr.out);
  if (in) load(engine, in_, csr.transposed);
}

Traffic operator-(const Traffic& now, const Traffic& before) {
  return {now.hits - before.hits,
          now.faults - before.faults,
          now.prefetched - before.prefetched,
          now.evictions - before.evictions,
          now.write_backs - before.write_backs,
          now.bytes_in - before.bytes_in,
          now.bytes_out - before.bytes_out};
}

}  // namespace holdall::graph
