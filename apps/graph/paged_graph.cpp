#include "apps/graph/paged_graph.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <span>

namespace holdall::graph {

namespace {

PagedAdjacency from_file(Engine& engine, Stream stream, const GraphFile& file,
                         const FileAdjacency& adjacency, const char* direction, Bytes chunk) {
  const Array<std::uint64_t> offsets = load_offsets(file, adjacency);
  PagedAdjacency paged{
      VertexArray<std::uint64_t>(engine, stream, offsets.size(), std::string(direction) + " offsets"),
      engine.reserve<Vertex>(std::max<std::uint64_t>(adjacency.neighbours.count, 1),
                             {.name = std::string(direction) + " neighbours",
                              .backing = adjacency.neighbours.count
                                             ? holdall::file(file.path, adjacency.neighbours.offset)
                                             : zeros(),
                              .chunk = chunk,
                              .cold = Cold::unmapped})};
  paged.offsets.load(offsets);
  return paged;
}

PagedAdjacency from_memory(Engine& engine, Stream stream, const Adjacency& adjacency,
                           const char* direction, Bytes chunk) {
  PagedAdjacency paged{
      VertexArray<std::uint64_t>(engine, stream, adjacency.offsets.size(),
                                 std::string(direction) + " offsets"),
      engine.reserve<Vertex>(std::max<std::uint64_t>(adjacency.neighbours.size(), 1),
                             {.name = std::string(direction) + " neighbours",
                              .backing = pinned(),
                              .chunk = chunk,
                              .cold = Cold::unmapped})};
  paged.offsets.load(adjacency.offsets);
  Vertex* const to = engine.contents(paged.neighbours);
  tbb::parallel_for(tbb::blocked_range<std::uint64_t>(0, adjacency.neighbours.size(), 1 << 20),
                    [&](const auto& piece) {
                      std::copy(adjacency.neighbours.data() + piece.begin(),
                                adjacency.neighbours.data() + piece.end(), to + piece.begin());
                    });
  return paged;
}

}  // namespace

PagedGraph::PagedGraph(Engine& engine, const GraphFile& file, const Options& options)
    : engine_(engine),
      stream_(engine.stream()),
      directed_(file.directed),
      vertices_(file.vertices),
      edges_(file.edges),
      check_([file] { graph::check_unchanged(file); }) {
  if (options.out || !directed_)
    out_ = from_file(engine, stream_, file, file.out, "out", options.chunk);
  if (options.in && directed_) in_ = from_file(engine, stream_, file, file.in, "in", options.chunk);
}

PagedGraph::PagedGraph(Engine& engine, const Csr& csr, const Options& options)
    : engine_(engine),
      stream_(engine.stream()),
      directed_(csr.directed),
      vertices_(csr.vertices()),
      edges_(csr.edges()) {
  if (options.out || !directed_)
    out_ = from_memory(engine, stream_, csr.out, "out", options.chunk);
  if (options.in && directed_)
    in_ = from_memory(engine, stream_, csr.transposed, "in", options.chunk);
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
