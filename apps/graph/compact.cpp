#include "apps/graph/compact.hpp"

#include <fmt/format.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>

#include <atomic>
#include <bit>

#include "apps/graph/error.hpp"
#include "apps/graph/scan.hpp"

namespace holdall::graph {

CompactEdges::CompactEdges(const EdgeSource& source, Bytes memory) : source_(source) {
  const std::uint64_t words = (source.vertices() + 63) / 64;
  if (2 * words * sizeof(std::uint64_t) > memory)
    throw GraphError(fmt::format(
        "compacting ids up to {} needs {} of memory, and {} may be used; "
        "allow more",
        source.vertices() - 1, holdall::to_string(16 * words), holdall::to_string(memory)));
  occurs_ = Array<std::uint64_t>::zeros(words);
  before_ = Array<std::uint64_t>::uninitialized(words);
  tbb::enumerable_thread_specific<EdgeScratch> scratch;
  const auto mark = [&](Vertex id) {
    const std::atomic_ref word(occurs_[id / 64]);
    const std::uint64_t bit = std::uint64_t{1} << id % 64;
    if ((word.load(std::memory_order_relaxed) & bit) == 0)
      word.fetch_or(bit, std::memory_order_relaxed);
  };
  tbb::parallel_for(std::uint64_t{0}, source.blocks(), [&](std::uint64_t block) {
    for (const auto [from, to] : source.read(block, scratch.local()).edges) mark(from), mark(to);
  });
  for (std::uint64_t i = 0; i < occurs_.size(); ++i)
    before_[i] = static_cast<std::uint64_t>(std::popcount(occurs_[i]));
  vertices_ = exclusive_scan({before_.data(), before_.size()});
}

Vertex CompactEdges::rank(Vertex id) const {
  const std::uint64_t below = (std::uint64_t{1} << id % 64) - 1;
  const std::uint64_t word = occurs_[id / 64];
  // An id that did not occur: the file was changed between two readings.
  if ((word >> id % 64 & 1) == 0)
    throw GraphError("the edges changed while they were read; try again");
  return static_cast<Vertex>(before_[id / 64] +
                             static_cast<std::uint64_t>(std::popcount(word & below)));
}

EdgeBlock CompactEdges::read(std::uint64_t block, EdgeScratch& scratch) const {
  const auto [edges, weights] = source_.read(block, scratch);
  std::vector<Edge>& ranked = scratch.edges;
  if (edges.data() < ranked.data() || edges.data() >= ranked.data() + ranked.size())
    ranked.resize(edges.size());
  for (std::size_t i = 0; i < edges.size(); ++i)
    ranked[i] = {rank(edges[i].from), rank(edges[i].to)};
  return {std::span(ranked).first(edges.size()), weights};
}

Array<Vertex> CompactEdges::original_ids() const {
  auto ids = Array<Vertex>::uninitialized(vertices_);
  tbb::parallel_for(std::uint64_t{0}, occurs_.size(), [&](std::uint64_t i) {
    std::uint64_t at = before_[i];
    for (std::uint64_t word = occurs_[i]; word != 0; word &= word - 1)
      ids[at++] = static_cast<Vertex>(i * 64 + static_cast<std::uint64_t>(std::countr_zero(word)));
  });
  return ids;
}

}  // namespace holdall::graph
