#include "apps/graph/binary_edges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "apps/graph/error.hpp"

namespace holdall::graph {

namespace {

constexpr std::uint64_t block_edges = 1 << 16;

// Calls `visit(i, value)` for elements `first` to `first + count` - 1 of a column.
template <typename Visit>
void for_each_value(const BinaryColumn& column, std::uint64_t first, std::uint64_t count,
                    Visit visit) {
  if (count == 0) return;
  std::vector<std::byte> bytes((count - 1) * column.stride + column.element_bytes);
  column.file->read(column.offset + first * column.stride, bytes.data(), bytes.size());
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + i * column.stride, column.element_bytes);
    visit(first + i, value);
  }
}

[[noreturn]] void damaged(const BinaryColumn& column, std::uint64_t i, const std::string& problem) {
  throw GraphError(column.file->path(), Byte{column.offset + i * column.stride}, problem,
                   "the file is damaged; get it again");
}

// Whole numbers read as floats are tiny, and floats read as whole numbers huge.
Weights guess_kind(const BinaryColumn& column, std::uint64_t edges) {
  constexpr std::uint32_t least_normal = 0x0080'0000;  // 1.2e-38, or 8388608
  bool floats = false, whole = false;
  for_each_value(column, 0, std::min(edges, block_edges), [&](std::uint64_t, std::uint64_t value) {
    if (value != 0) (value < least_normal ? whole : floats) = true;
  });
  return floats && !whole ? Weights::float32 : Weights::int32;
}

}  // namespace

BinaryEdges::BinaryEdges(BinaryGraph graph, bool weighted, Bytes memory)
    : graph_(std::move(graph)) {
  const std::uint64_t vertices = graph_.vertices, edges = graph_.edges;
  const Bytes needed = (vertices + 1) * sizeof(std::uint64_t);
  if (needed > memory)
    throw GraphError(graph_.offsets.file->path(), {},
                     fmt::format("its offsets need {} of memory, and {} may be used",
                                 holdall::to_string(needed), holdall::to_string(memory)),
                     "allow more");
  if (weighted && graph_.weights) {
    weights_ = graph_.weight_kind != Weights::none ? graph_.weight_kind
                                                   : guess_kind(*graph_.weights, edges);
    if (graph_.weights->element_bytes != 4)
      throw GraphError(graph_.weights->file->path(), {},
                       fmt::format("weights of {} bytes are not read; expected 4",
                                   graph_.weights->element_bytes),
                       "read it without weights (--unweighted)");
  }

  using Kind = BinaryGraph::Offsets;
  offsets_ = Array<std::uint64_t>::uninitialized(vertices + 1);
  const std::uint64_t stored = vertices + (graph_.kind == Kind::all ? 1 : 0);
  const std::uint64_t moved = graph_.kind == Kind::ends ? 1 : 0;
  offsets_[0] = 0;
  offsets_[vertices] = edges;
  for (std::uint64_t first = 0; first < stored; first += block_edges)
    for_each_value(graph_.offsets, first, std::min(block_edges, stored - first),
                   [&](std::uint64_t i, std::uint64_t value) { offsets_[i + moved] = value; });
  for (std::uint64_t v = 0; v <= vertices; ++v) {
    const std::uint64_t i = std::min(v - std::min(v, moved), stored - 1);
    if (v == 0 && offsets_[v] != 0)
      damaged(graph_.offsets, i, fmt::format("the first offset is {}; expected 0", offsets_[v]));
    if (offsets_[v] > edges)
      damaged(graph_.offsets, i,
              fmt::format("offset {} is {}, past the {} edges", i, offsets_[v], edges));
    if (v > 0 && offsets_[v] < offsets_[v - 1])
      damaged(graph_.offsets, i,
              fmt::format("offset {} is {}, less than the one before", i, offsets_[v]));
  }
  if (offsets_[vertices] != edges)
    damaged(graph_.offsets, stored - 1,
            fmt::format("the last offset is {}; expected the number of edges, {}",
                        offsets_[vertices], edges));
}

std::uint64_t BinaryEdges::blocks() const { return (graph_.edges + block_edges - 1) / block_edges; }

EdgeBlock BinaryEdges::read(std::uint64_t block, EdgeScratch& scratch) const {
  const std::uint64_t first = block * block_edges;
  const std::uint64_t count = std::min(block_edges, graph_.edges - first);
  auto v = static_cast<std::uint64_t>(std::upper_bound(offsets_.begin(), offsets_.end(), first) -
                                      offsets_.begin()) -
           1;
  scratch.edges.resize(count);
  scratch.weights.resize(weights_ == Weights::none ? 0 : count);
  for_each_value(graph_.neighbours, first, count, [&](std::uint64_t e, std::uint64_t to) {
    if (to >= graph_.vertices)
      damaged(graph_.neighbours, e,
              fmt::format("the neighbour {} is outside the {} vertices", to, graph_.vertices));
    while (offsets_[v + 1] <= e) ++v;
    scratch.edges[e - first] = {static_cast<Vertex>(v), static_cast<Vertex>(to)};
  });
  if (weights_ != Weights::none)
    for_each_value(*graph_.weights, first, count, [&](std::uint64_t e, std::uint64_t bits) {
      if (bits >= weights_below(weights_))
        damaged(*graph_.weights, e,
                fmt::format("the bits {:#x} are no weight; expected less than {:#x}", bits,
                            weights_below(weights_)));
      scratch.weights[e - first] = static_cast<std::uint32_t>(bits);
    });
  if (graph_.undirected) {
    std::uint64_t kept = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      if (scratch.edges[i].from > scratch.edges[i].to) continue;
      scratch.edges[kept] = scratch.edges[i];
      if (!scratch.weights.empty()) scratch.weights[kept] = scratch.weights[i];
      ++kept;
    }
    scratch.edges.resize(kept);
    scratch.weights.resize(weights_ == Weights::none ? 0 : kept);
  }
  return {scratch.edges, scratch.weights};
}

}  // namespace holdall::graph
