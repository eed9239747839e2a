#include "apps/graph/text_edges.hpp"

#include <fmt/format.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>

#include "apps/graph/error.hpp"

namespace holdall::graph {

namespace {

constexpr Bytes block_bytes = Bytes{256} << 10;
constexpr Bytes most_line_bytes = Bytes{64} << 20;
constexpr std::string_view line_ends = "\n\r";

// The lines of the block of `file` that starts at `start`: from after the first line end at or past
// `start` - 1 to the first at or past its end - 1. So each line is in the block where it begins.
std::string_view read_lines(const File& file, Bytes begin, Bytes start, std::vector<char>& buffer,
                            Bytes& first_byte) {
  const Bytes from = start == begin ? start : start - 1;
  const Bytes stop = std::min(start + block_bytes, file.bytes());
  const auto last =
      static_cast<std::size_t>(stop - 1 - from);  // where the end may be, at the least
  std::size_t wanted = last + 1 + 256;
  for (;; wanted *= 2) {
    buffer.resize(wanted + 1);
    const std::size_t got = file.read_some(from, buffer.data(), wanted);
    std::string_view text(buffer.data(), got);
    const std::size_t before = start == begin ? 0 : text.find_first_of(line_ends);
    if (before == text.npos || (start != begin && before >= last))
      return {};  // no line begins here
    const std::size_t first = start == begin ? 0 : before + 1;
    std::size_t end = text.find_first_of(line_ends, last);
    if (end == text.npos && got < wanted) {  // the last line of the file has no end
      buffer[got] = '\n';
      end = got;
    }
    if (end != text.npos) {
      first_byte = from + first;
      return {buffer.data() + first, end + 1 - first};
    }
    if (wanted > most_line_bytes)
      throw GraphError(file.path(), Byte{from + first},
                       fmt::format("a line of more than {}; expected two ids a line",
                                   holdall::to_string(most_line_bytes)));
  }
}

}  // namespace

TextEdges::TextEdges(const File& file, Bytes begin, const TextRules& rules, Bytes keep)
    : file_(file), begin_(begin), rules_(rules) {
  const Bytes bytes = file.bytes() > begin ? file.bytes() - begin : 0;
  blocks_.resize((bytes + block_bytes - 1) / block_bytes);
  std::vector<Edge> firsts(blocks_.size());

  // 1. parse; of several bad lines, the first is told
  std::atomic<Bytes> left = keep;
  std::atomic<std::uint64_t> bad_block = blocks_.size();
  std::optional<GraphError> error;
  std::mutex error_mutex;
  tbb::enumerable_thread_specific<std::vector<Edge>> scratch;
  tbb::parallel_for(std::uint64_t{0}, std::uint64_t{blocks_.size()}, [&](std::uint64_t i) {
    if (i > bad_block) return;
    std::vector<Edge>& edges = scratch.local();
    try {
      parse(i, edges);
    } catch (const GraphError& e) {
      const std::lock_guard lock(error_mutex);
      if (i >= bad_block) return;
      bad_block = i;
      error = e;
      return;
    }
    Block& block = blocks_[i];
    block.edges = edges.size();
    if (edges.empty()) return;
    firsts[i] = edges.front();
    for (std::size_t e = 1; e < edges.size(); ++e) {
      block.least = std::min({block.least, edges[e].from, edges[e].to});
      block.greatest = std::max({block.greatest, edges[e].from, edges[e].to});
    }
    const Bytes needed = edges.size() * sizeof(Edge);
    Bytes free = left;
    while (free >= needed && !left.compare_exchange_weak(free, free - needed)) {
    }
    if (free >= needed) block.kept = edges;  // a copy: no larger than it must be
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
  }
  if (edges_ > 0)
    vertices_ = std::uint64_t{std::max({first_.from, first_.to, greatest_of_rest_})} + 1;
}

void TextEdges::drop_first() {
  first_dropped_ = true;
  --edges_;
  vertices_ = edges_ > 0 ? std::uint64_t{greatest_of_rest_} + 1 : 0;
}

std::span<const Edge> TextEdges::read(std::uint64_t index, std::vector<Edge>& scratch) const {
  const Block& block = blocks_[index];
  std::span<const Edge> edges = block.kept;
  if (block.edges > 0 && edges.empty()) {
    parse(index, scratch);
    edges = scratch;
    const auto outside = [&](const Edge& e) { return std::max(e.from, e.to) >= vertices_; };
    const bool first_counts = index == first_block_ && first_dropped_;
    if (edges.size() != block.edges ||
        std::ranges::any_of(edges.subspan(first_counts ? 1 : 0), outside))
      throw GraphError(file_.path(), {}, "the file was changed while it was read", "read it again");
  }
  return index == first_block_ && first_dropped_ ? edges.subspan(1) : edges;
}

void TextEdges::parse(std::uint64_t block, std::vector<Edge>& edges) const {
  Bytes first_byte = 0;
  const std::string_view lines =
      read_lines(file_, begin_, begin_ + block * block_bytes, text_.local(), first_byte);
  try {
    parse_edges(lines, rules_, edges);
  } catch (const TextFault& fault) {
    fail(first_byte + fault.at, fault.problem);
  }
}

void TextEdges::fail(Bytes at, const std::string& problem) const {
  std::uint64_t line = 1;
  std::vector<char> text(block_bytes);
  for (Bytes from = 0; from < at;) {
    const std::size_t got =
        file_.read_some(from, text.data(), std::min<Bytes>(text.size(), at - from));
    if (got == 0) break;
    line += count_lines({text.data(), got});
    from += got;
  }
  throw GraphError(file_.path(), Line{line}, problem);
}

}  // namespace holdall::graph
