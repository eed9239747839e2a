#include "apps/graph/metis.hpp"

#include <fmt/format.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <optional>
#include <string>

#include "apps/graph/error.hpp"
#include "apps/graph/readers.hpp"

namespace holdall::graph {

namespace {

constexpr std::string_view blanks = " \t\v\f";

std::vector<std::uint64_t> numbers_of(std::string_view line, bool& good) {
  std::vector<std::uint64_t> numbers;
  for (std::size_t at = 0; (at = line.find_first_not_of(blanks, at)) != line.npos;) {
    const std::size_t end = std::min(line.find_first_of(blanks, at), line.size());
    std::uint64_t value = 0;
    for (; at < end; ++at) {
      good = good && line[at] >= '0' && line[at] <= '9' && value <= most_vertices;
      value = value * 10 + static_cast<std::uint64_t>(line[at] - '0');
    }
    numbers.push_back(value);
  }
  return numbers;
}

// The next line of `text`, without its end, and `at` past it. False at the end.
bool next_line(std::string_view text, std::size_t& at, std::string_view& line) {
  if (at >= text.size()) return false;
  const std::size_t end = std::min(text.find_first_of("\n\r", at), text.size());
  line = text.substr(at, end - at);
  at = end + (text.substr(end).starts_with("\r\n") ? 2 : 1);
  return true;
}
bool is_comment(std::string_view line) {
  const std::size_t first = line.find_first_not_of(blanks);
  return first != line.npos && line[first] == '%';
}
bool is_empty(std::string_view line) { return line.find_first_not_of(blanks) == line.npos; }

// fmt: up to three digits of 0 and 1.
bool is_code(std::uint64_t code) { return code <= 111 && code % 10 <= 1 && code / 10 % 10 <= 1; }

std::optional<MetisHeader> header_of(std::string_view text) {
  std::size_t at = 0;
  std::string_view line;
  for (std::uint64_t number = 1; next_line(text, at, line); ++number) {
    if (is_comment(line) || is_empty(line)) continue;
    bool good = true;
    const auto words = numbers_of(line, good);
    const std::uint64_t code = words.size() > 2 ? words[2] : 0;
    const std::uint64_t constraints = words.size() > 3 ? words[3] : 1;
    if (!good || words.size() < 2 || words.size() > 4 || !is_code(code)) return {};
    return MetisHeader{.vertices = words[0],
                       .edges = words[1],
                       .numbers_before = code / 100 + (code / 10 % 10 == 1 ? constraints : 0),
                       .weighted = code % 10 == 1,
                       .line = number,
                       .end = std::min(at, text.size())};
  }
  return {};
}

std::uint64_t hash(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  std::uint64_t x = (a << 32 | b) * 0x9e37'79b9'7f4a'7c15 + c;
  x = (x ^ x >> 30) * 0xbf58'476d'1ce4'e5b9;
  x = (x ^ x >> 27) * 0x94d0'49bb'1331'11eb;
  return x ^ x >> 31;
}

}  // namespace

bool is_metis(std::string_view head, bool whole, bool named) {
  const auto header = header_of(head);
  if (!header || header->vertices == 0) return header && named;
  std::uint64_t lists = 0, numbers = 0;
  std::size_t least = std::numeric_limits<std::size_t>::max(), greatest = 0;
  bool good = true;
  std::string_view line;
  for (std::size_t at = header->end; good && next_line(head, at, line);) {
    if (at >= head.size() && !whole) break;  // a line that goes on
    if (is_comment(line)) continue;
    const auto words = numbers_of(line, good);
    if (++lists > header->vertices && words.empty()) continue;
    const std::size_t step = header->weighted ? 2 : 1;
    const std::size_t before = header->numbers_before;
    good = good && words.size() >= before && (words.size() - before) % step == 0 &&
           lists <= header->vertices;
    for (std::size_t i = before; good && i < words.size(); i += step)
      good = words[i] >= 1 && words[i] <= header->vertices;
    if (!good) break;
    numbers += (words.size() - before) / step;
    least = std::min(least, words.size());
    greatest = std::max(greatest, words.size());
  }
  // Lines all of two or of three numbers may be edges.
  const bool may_be_edges = least == greatest && (least == 2 || least == 3);
  if (whole)
    good = good && lists >= header->vertices && (!may_be_edges || numbers == 2 * header->edges);
  return named ? good || !may_be_edges : good && !may_be_edges;
}

MetisHeader read_metis_header(const File& file) {
  std::string text(std::min(file.bytes(), Bytes{1} << 20), '\0');
  text.resize(file.read_some(0, text.data(), text.size()));
  const auto header = header_of(text);
  if (!header)
    throw GraphError(file.path(), {}, "expected 'VERTICES EDGES [FMT [NCON]]' at the start");
  if (header->vertices == 0)
    throw GraphError(file.path(), Line{header->line}, "a graph of no vertices");
  check_vertex_count(file.path(), Line{header->line}, header->vertices);
  return *header;
}

MetisEdges::MetisEdges(const File& file, const MetisHeader& header, bool unweighted)
    : header_(header),
      keeps_weights_(header.weighted && !unweighted),
      lines_(file, header.end),
      first_(lines_.size() + 1) {
  // 1. which vertex each block begins with
  tbb::parallel_for(std::uint64_t{0}, lines_.size(), [&](std::uint64_t i) {
    Bytes first_byte = 0;
    const std::string_view text = lines_.read(i, text_.local(), first_byte);
    std::string_view line;
    for (std::size_t at = 0; next_line(text, at, line);) first_[i + 1] += is_comment(line) ? 0 : 1;
  });
  for (std::uint64_t i = 0; i < lines_.size(); ++i) first_[i + 1] += first_[i];
  if (first_.back() < header.vertices)
    throw GraphError(file.path(), Line{header.line},
                     fmt::format("the header promises {} vertices, and {} lists follow",
                                 header.vertices, first_.back()),
                     "get the whole file");

  // 2. both ends of every edge, added up in a way that does not depend on their order
  std::atomic<std::uint64_t> entries = 0, loops = 0, up = 0, down = 0;
  std::atomic<std::uint64_t> bad_block = lines_.size();
  std::atomic<bool> floats = false;
  std::optional<GraphError> error;
  std::mutex error_mutex;
  tbb::enumerable_thread_specific<EdgeScratch> scratch;
  tbb::parallel_for(std::uint64_t{0}, lines_.size(), [&](std::uint64_t i) {
    if (i > bad_block) return;
    EdgeScratch& parsed = scratch.local();
    Weights kind;
    try {
      kind = parse(i, parsed, true);
      if (kind == Weights::float32) floats = true;
    } catch (const GraphError& e) {
      const std::lock_guard lock(error_mutex);
      if (i >= bad_block) return;
      bad_block = i;
      error = e;
      return;
    }
    if (kind != Weights::float32) to_floats(parsed.weights);
    for (std::size_t e = 0; e < parsed.edges.size(); ++e) {
      const auto [from, to] = parsed.edges[e];
      const std::uint32_t weight = keeps_weights_ ? parsed.weights[e] : 0;
      if (from == to) ++loops;
      if (from < to) up += hash(from, to, weight);
      if (from > to) down += hash(to, from, weight);
    }
    entries += parsed.edges.size();
  });
  if (error) throw GraphError(*error);
  if (entries != 2 * header.edges && entries + loops != 2 * header.edges)
    throw GraphError(file.path(), Line{header.line},
                     fmt::format("the header promises {} edges, twice each, and the lists hold {} "
                                 "neighbours",
                                 header.edges, entries.load()),
                     "get the whole file");
  if (up != down)
    throw GraphError(file.path(), {},
                     "some edge stands in one of its two lists alone, or with another weight; "
                     "expected u in the list of v wherever v is in that of u",
                     "write it as an edge list if it is directed");
  if (keeps_weights_) weights_ = floats ? Weights::float32 : Weights::int32;
}

EdgeBlock MetisEdges::read(std::uint64_t block, EdgeScratch& scratch) const {
  if (parse(block, scratch, false) != weights_) to_floats(scratch.weights);
  return {scratch.edges, scratch.weights};
}

Weights MetisEdges::parse(std::uint64_t block, EdgeScratch& edges, bool all) const {
  edges.edges.clear();
  edges.weights.clear();
  Bytes first_byte = 0;
  const std::string_view text = lines_.read(block, text_.local(), first_byte);
  const TextRules rules{.base = 1, .vertices = header_.vertices};
  NumberParser numbers(text);
  Weights kind = keeps_weights_ ? Weights::int32 : Weights::none;
  try {
    std::uint64_t v = first_[block];
    std::string_view line;
    for (std::size_t at = 0; next_line(text, at, line);) {
      if (is_comment(line)) continue;
      numbers.at = line.data();
      const char* const end = line.data() + line.size();
      const auto another = [&] {
        while (numbers.at < end && blanks.find(*numbers.at) != blanks.npos) ++numbers.at;
        return numbers.at < end;
      };
      if (v >= header_.vertices) {
        if (another())
          numbers.fault(numbers.at,
                        fmt::format("a list past those of the {} vertices", header_.vertices));
        continue;
      }
      Weights passed;
      for (std::uint64_t i = 0; i < header_.numbers_before; ++i) {
        if (!another())
          numbers.fault(numbers.at, fmt::format("the line has {} numbers; {} come before the "
                                                "neighbours",
                                                i, header_.numbers_before));
        (void)numbers.weight(passed);
      }
      for (; another();) {
        const Vertex to = numbers.id(rules);
        std::uint32_t weight = 0;
        Weights found = Weights::int32;
        if (header_.weighted) {
          if (!another()) numbers.fault(numbers.at, "the last neighbour has no weight after it");
          weight = numbers.weight(found);
        }
        if (!all && to < v) continue;
        edges.edges.push_back({static_cast<Vertex>(v), to});
        if (!keeps_weights_) continue;
        edges.weights.push_back(weight);
        if (found == kind) continue;
        const std::span<std::uint32_t> weights(edges.weights);
        if (found == Weights::int32)
          to_floats(weights.last(1));
        else
          to_floats(weights.first(weights.size() - 1));
        kind = Weights::float32;
      }
      ++v;
    }
  } catch (const TextFault& fault) {
    lines_.fail(first_byte + fault.at, fault.problem);
  }
  return kind;
}

Csr load_metis(const File& file, const LoadOptions& options, LoadReport& report) {
  const MetisEdges edges(file, read_metis_header(file), options.unweighted);
  Csr csr = build_loaded(edges, options, true);
  report.edges_read = csr.edges();
  file.check_unchanged();
  return csr;
}

}  // namespace holdall::graph
