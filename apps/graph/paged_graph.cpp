#include "apps/graph/paged_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "apps/graph/checked_neighbours.hpp"
#include "apps/graph/error.hpp"
#include "apps/graph/partition.hpp"
#include "kernels/visit.hpp"

namespace holdall::graph {

namespace {

Exchange& alone() {
  static Exchange exchange;
  return exchange;
}

template <class T>
Range<T> edge_range(Engine& engine, std::uint64_t edges, const BackingSpec& backing,
                    const std::string& name, Bytes chunk) {
  return engine.reserve<T>(
      std::max<std::uint64_t>(edges, 1),
      {.name = name, .backing = backing, .chunk = chunk, .cold = Cold::unmapped});
}

// The elements [first, first + count).
FileArray part_of(FileArray array, std::uint64_t first, std::uint64_t count) {
  array.offset += first * array.element_bytes;
  array.count = count;
  return array;
}

// Vertices of a part, and where their edges are in the whole.
struct Own {
  std::uint64_t first = 0, past = 0;
  std::span<const std::uint64_t> offsets;

  std::uint64_t first_edge() const { return offsets[first]; }
  std::uint64_t edges() const { return offsets[past] - offsets[first]; }
};

// One direction of a part's edges, nothing in it yet.
PagedAdjacency reserve(VertexData& data, const Own& own, const std::string& direction, Bytes chunk,
                       const BackingSpec& neighbours, const BackingSpec* weights) {
  PagedAdjacency paged;
  paged.edges = own.edges();
  paged.first_edge = own.first_edge();
  paged.offsets = data.array<std::uint64_t>(own.offsets.size(), direction + " offsets");
  if (weights != nullptr) {
    paged.weights =
        edge_range<std::uint32_t>(data.engine(), paged.edges, paged.edges > 0 ? *weights : zeros(),
                                  direction + " weights", chunk);
    chunk = paged.weights.chunk_bytes() * sizeof(Vertex) / sizeof(std::uint32_t);
  }
  paged.neighbours =
      edge_range<Vertex>(data.engine(), paged.edges, paged.edges > 0 ? neighbours : zeros(),
                         direction + " neighbours", chunk);
  return paged;
}

PagedAdjacency reserve(VertexData& data, const GraphFile& file, const FileAdjacency& adjacency,
                       const Own& own, const std::string& direction, Bytes chunk, bool weights) {
  const auto its = [&](const FileArray& array) {
    return part_of(array, own.first_edge(), own.edges());
  };
  const BackingSpec none = zeros();
  if (own.edges() == 0)
    return reserve(data, own, direction, chunk, none, weights ? &none : nullptr);
  BackingSpec weights_backing;
  if (weights) weights_backing = checked_weights(file, its(adjacency.weights));
  return reserve(data, own, direction, chunk, checked_neighbours(file, its(adjacency.neighbours)),
                 weights ? &weights_backing : nullptr);
}

// The offsets of a part: lists of vertices that are not its own are empty.
void load_offsets_of(PagedAdjacency& paged, const Own& own) {
  const std::uint64_t begin = own.first_edge();
  if (begin == 0 && own.past + 1 == own.offsets.size()) return paged.offsets.load(own.offsets);
  constexpr std::uint64_t piece = std::uint64_t{1} << 20;
  std::vector<std::uint64_t> some;
  for (std::uint64_t v = own.first; v < own.offsets.size(); v += some.size()) {
    some.resize(std::min(piece, own.offsets.size() - v));
    for (std::uint64_t i = 0; i < some.size(); ++i)
      some[i] = own.offsets[std::min(v + i, own.past)] - begin;
    paged.offsets.load(some, v);
  }
}

void load(Engine& engine, PagedAdjacency& paged, const Adjacency& adjacency) {
  if (paged.edges == 0) return;
  const auto from = static_cast<std::ptrdiff_t>(paged.first_edge);
  const auto count = static_cast<std::ptrdiff_t>(paged.edges);
  Vertex* const neighbours = engine.contents(paged.neighbours);
  std::copy_n(adjacency.neighbours.begin() + from, count, neighbours);
  paged.neighbours_in_place = neighbours;
  if (!paged.weights) return;
  std::uint32_t* const weights = engine.contents(paged.weights);
  std::copy_n(adjacency.weights.begin() + from, count, weights);
  paged.weights_in_place = weights;
}

Weights asked_for(Weights there, bool asked) {
  if (!asked) return Weights::none;
  if (there == Weights::none)
    throw GraphError("the graph has no weights: take one that has, or give it some (--weights)");
  return there;
}

}  // namespace

PagedGraph::PagedGraph(Engine& engine, bool directed, Weights weights, std::uint64_t vertices,
                       std::uint64_t edges, const Part& part)
    : engine_(engine),
      exchange_(part.exchange != nullptr ? part.exchange : &alone()),
      device_(part.device),
      stream_(engine.stream(part.device)),
      directed_(directed),
      weights_(weights),
      vertices_(vertices),
      edges_(edges) {}

PagedGraph::PagedGraph(Engine& engine, const GraphFile& file, const Options& options,
                       const Part& part)
    : PagedGraph(engine, file.directed, asked_for(file.weights, options.weights), file.vertices,
                 file.edges, part) {
  if (!file.in_place())
    throw GraphError(file.path, {},
                     fmt::format("holds no ids of this build's {} bits that could be paged from "
                                 "where they lie",
                                 8 * sizeof(Vertex)),
                     "convert it to a .hold, or load it");
  check_ = [file] { graph::check_unchanged(file); };
  const bool out = options.out || !directed_;
  const bool in = options.in && directed_;
  Array<std::uint64_t> read[2];
  Offsets offsets = part.offsets;
  const auto offsets_of = [&](const FileAdjacency& adjacency, Array<std::uint64_t>& to) {
    to = load_offsets(file, adjacency);
    return std::span<const std::uint64_t>(to);
  };
  if (out && offsets.out.empty()) offsets.out = offsets_of(file.out, read[0]);
  if (in && offsets.in.empty()) offsets.in = offsets_of(file.in, read[1]);
  bounds_ = cut_vertices(offsets.out, offsets.in, exchange_->parts());
  const Own own_out{first(), past(), offsets.out}, own_in{first(), past(), offsets.in};
  VertexData data(*this, "the graph's offsets");
  if (out) out_ = reserve(data, file, file.out, own_out, "out", options.chunk, options.weights);
  if (in) in_ = reserve(data, file, file.in, own_in, "in", options.chunk, false);
  lease_ = data.lease(out ? out_.neighbours.chunk_bytes() : in ? in_.neighbours.chunk_bytes() : 0);
  if (out) load_offsets_of(out_, own_out);
  if (in) load_offsets_of(in_, own_in);
}

PagedGraph::PagedGraph(Engine& engine, const Csr& csr, const Options& options, const Part& part)
    : PagedGraph(engine, csr.directed, asked_for(csr.weights, options.weights), csr.vertices(),
                 csr.edges(), part) {
  const bool out = options.out || !directed_;
  const bool in = options.in && directed_;
  bounds_ = cut_vertices(out ? csr.out.offsets : std::span<const std::uint64_t>(),
                         in ? csr.transposed.offsets : std::span<const std::uint64_t>(),
                         exchange_->parts());
  const Own own_out{first(), past(), csr.out.offsets},
      own_in{first(), past(), csr.transposed.offsets};
  const BackingSpec memory = pinned();
  VertexData data(*this, "the graph's offsets");
  if (out)
    out_ =
        reserve(data, own_out, "out", options.chunk, memory, options.weights ? &memory : nullptr);
  if (in) in_ = reserve(data, own_in, "in", options.chunk, memory, nullptr);
  lease_ = data.lease(out ? out_.neighbours.chunk_bytes() : in ? in_.neighbours.chunk_bytes() : 0);
  if (out) load_offsets_of(out_, own_out);
  if (in) load_offsets_of(in_, own_in);
  if (out) load(engine, out_, csr.out);
  if (in) load(engine, in_, csr.transposed);
}

std::uint64_t PagedGraph::most_chunks() const {
  const auto chunks = [](const PagedAdjacency& edges) {
    return edges.neighbours ? edges.neighbours.chunks() : 0;
  };
  return std::max(chunks(out_), chunks(in_));
}

kernels::Frontier PagedGraph::own(const Vertex* list, std::uint64_t count, void* workspace) const {
  if (exchange_->parts() == 1) return {list, count};
  const kernels::ListPart part =
      kernels::part_of_list(list, count, first(), past(), workspace, stream_);
  return {list + part.first, part.past - part.first};
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
