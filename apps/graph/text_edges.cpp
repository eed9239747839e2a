#include "apps/graph/text_edges.hpp"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <mutex>
#include <optional>

#include "apps/graph/error.hpp"

namespace holdall::graph {

TextEdges::TextEdges(const File& file, Bytes begin, const TextRules& rules, Bytes keep)
    : lines_(file, begin), rules_(rules), blocks_(lines_.size()) {
  std::vector<Edge> firsts(blocks_.size());

  // 1. parse; of several bad lines, the first is told
  std::atomic<Bytes> left = keep;
  std::atomic<std::uint64_t> bad_block = blocks_.size();
  std::optional<GraphError> error;
  std::mutex error_mutex;
  tbb::enumerable_thread_specific<EdgeScratch> scratch;
  tbb::parallel_for(std::uint64_t{0}, std::uint64_t{blocks_.size()}, [&](std::uint64_t i) {
    if (i > bad_block) return;
    EdgeScratch& parsed = scratch.local();
    const std::vector<Edge>& edges = parsed.edges;
    Block& block = blocks_[i];
    try {
      block.kind = parse(i, parsed);
    } catch (const GraphError& e) {
      const std::lock_guard lock(error_mutex);
      if (i >= bad_block) return;
      bad_block = i;
      error = e;
      return;
    }
    block.edges = edges.size();
    if (edges.empty()) return;
    firsts[i] = edges.front();
    for (std::size_t e = 1; e < edges.size(); ++e) {
      block.least = std::min({block.least, edges[e].from, edges[e].to});
      block.greatest = std::max({block.greatest, edges[e].from, edges[e].to});
    }
    const Bytes needed = edges.size() * sizeof(Edge) + parsed.weights.size() * 4;
    Bytes free = left;
    while (free >= needed && !left.compare_exchange_weak(free, free - needed)) {
    }
    if (free >= needed) block.kept = parsed;  // a copy: no larger than it must be
  });
  if (error) throw GraphError(*error);

  // 2. sum up
  for (std::uint64_t i = 0; i < blocks_.size(); ++i) {
    if (blocks_[i].edges == 0) continue;
    if (edges_ == 0) {
      first_block_ = i;
      first_ = firsts[i];
    } else {
      blocks_[i].least = std::min({blocks_[i].least, firsts[i].from, firsts[i].to});
      blocks_[i].greatest = std::max({blocks_[i].greatest, firsts[i].from, firsts[i].to});
    }
    edges_ += blocks_[i].edges;
    least_of_rest_ = std::min(least_of_rest_, blocks_[i].least);
    greatest_of_rest_ = std::max(greatest_of_rest_, blocks_[i].greatest);
    weights_ = std::max(weights_, blocks_[i].kind);  // one fraction makes all of them floats
  }
  for (Block& block : blocks_)
    if (block.kind != weights_) to_floats(block.kept.weights);
  if (edges_ > 0)
    vertices_ = std::uint64_t{std::max({first_.from, first_.to, greatest_of_rest_})} + 1;
}

void TextEdges::drop_first() {
  first_dropped_ = true;
  --edges_;
  vertices_ = edges_ > 0 ? std::uint64_t{greatest_of_rest_} + 1 : 0;
}

EdgeBlock TextEdges::read(std::uint64_t index, EdgeScratch& scratch) const {
  const Block& block = blocks_[index];
  EdgeBlock read{block.kept.edges, block.kept.weights};
  if (block.edges > 0 && read.edges.empty()) {
    if (parse(index, scratch) != weights_) to_floats(scratch.weights);
    read = {scratch.edges, scratch.weights};
    const auto outside = [&](const Edge& e) { return std::max(e.from, e.to) >= vertices_; };
    const bool first_counts = index == first_block_ && first_dropped_;
    if (read.edges.size() != block.edges ||
        std::ranges::any_of(read.edges.subspan(first_counts ? 1 : 0), outside))
      throw GraphError(lines_.file().path(), {}, "the file was changed while it was read",
                       "read it again");
  }
  if (index == first_block_ && first_dropped_) {
    read.edges = read.edges.subspan(1);
    if (!read.weights.empty()) read.weights = read.weights.subspan(1);
  }
  return read;
}

Weights TextEdges::parse(std::uint64_t block, EdgeScratch& edges) const {
  Bytes first_byte = 0;
  const std::string_view lines = lines_.read(block, text_.local(), first_byte);
  try {
    return parse_edges(lines, rules_, edges);
  } catch (const TextFault& fault) {
    lines_.fail(first_byte + fault.at, fault.problem);
  }
}

}  // namespace holdall::graph
