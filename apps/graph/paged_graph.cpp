#include "apps/graph/paged_graph.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <span>

#include "apps/graph/checked_neighbours.hpp"
#include "apps/graph/error.hpp"

namespace holdall::graph {

namespace {

template <class T>
Range<T> edge_range(Engine& engine, std::uint64_t edges, const BackingSpec& backing,
                    const std::string& name, Bytes chunk) {
  return engine.reserve<T>(
      std::max<std::uint64_t>(edges, 1),
      {.name = name, .backing = backing, .chunk = chunk, .cold = Cold::unmapped});
}

// Room for one direction of the edges, nothing in it yet.
PagedAdjacency reserve(VertexData& data, const GraphFile& file, const FileAdjacency& adjacency,
                       const std::string& direction, Bytes chunk, bool weights) {
  const std::uint64_t edges = adjacency.neighbours.count;
  PagedAdjacency paged;
  paged.offsets = data.array<std::uint64_t>(file.vertices + 1, direction + " offsets");
  paged.neighbours = edge_range<Vertex>(
      data.engine(), edges, edges > 0 ? checked_neighbours(file, adjacency.neighbours) : zeros(),
      direction + " neighbours", chunk);
  if (weights)
    paged.weights = edge_range<std::uint32_t>(
        data.engine(), edges, edges > 0 ? checked_weights(file, adjacency.weights) : zeros(),
        direction + " weights", chunk);
  return paged;
}

PagedAdjacency reserve(VertexData& data, const Adjacency& adjacency, const std::string& direction,
                       Bytes chunk, bool weights) {
  const std::uint64_t edges = adjacency.neighbours.size();
  PagedAdjacency paged;
  paged.offsets = data.array<std::uint64_t>(adjacency.offsets.size(), direction + " offsets");
  paged.neighbours = edge_range<Vertex>(data.engine(), edges, edges > 0 ? pinned() : zeros(),
                                        direction + " neighbours", chunk);
  if (weights)
    paged.weights = edge_range<std::uint32_t>(data.engine(), edges, edges > 0 ? pinned() : zeros(),
                                              direction + " weights", chunk);
  return paged;
}

void load(Engine& engine, PagedAdjacency& paged, const Adjacency& adjacency) {
  paged.offsets.load(adjacency.offsets);
  if (adjacency.neighbours.empty()) return;
  Vertex* const neighbours = engine.contents(paged.neighbours);
  std::ranges::copy(adjacency.neighbours, neighbours);
  paged.neighbours_in_place = neighbours;
  if (!paged.weights) return;
  std::uint32_t* const weights = engine.contents(paged.weights);
  std::ranges::copy(adjacency.weights, weights);
  paged.weights_in_place = weights;
}

Weights asked_for(Weights there, bool asked) {
  if (!asked) return Weights::none;
  if (there == Weights::none)
    throw GraphError("the graph has no weights: take one that has, or give it some (--weights)");
  return there;
}

}  // namespace

PagedGraph::PagedGraph(Engine& engine, const GraphFile& file, const Options& options)
    : engine_(engine),
      stream_(engine.stream()),
      directed_(file.directed),
      weights_(asked_for(file.weights, options.weights)),
      vertices_(file.vertices),
      edges_(file.edges),
      check_([file] { graph::check_unchanged(file); }) {
  const bool out = options.out || !directed_;
  const bool in = options.in && directed_;
  VertexData data(engine, stream_, "the graph's offsets");
  if (out) out_ = reserve(data, file, file.out, "out", options.chunk, options.weights);
  if (in) in_ = reserve(data, file, file.in, "in", options.chunk, false);
  lease_ = data.lease(out ? out_.neighbours.chunk_bytes() : in ? in_.neighbours.chunk_bytes() : 0);
  if (out) out_.offsets.load(load_offsets(file, file.out));
  if (in) in_.offsets.load(load_offsets(file, file.in));
}

PagedGraph::PagedGraph(Engine& engine, const Csr& csr, const Options& options)
    : engine_(engine),
      stream_(engine.stream()),
      directed_(csr.directed),
      weights_(asked_for(csr.weights, options.weights)),
      vertices_(csr.vertices()),
      edges_(csr.edges()) {
  const bool out = options.out || !directed_;
  const bool in = options.in && directed_;
  VertexData data(engine, stream_, "the graph's offsets");
  if (out) out_ = reserve(data, csr.out, "out", options.chunk, options.weights);
  if (in) in_ = reserve(data, csr.transposed, "in", options.chunk, false);
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
