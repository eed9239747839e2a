#include "apps/graph/graph_file.hpp"

#include <fmt/format.h>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_reduce.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "apps/graph/dimacs.hpp"
#include "apps/graph/error.hpp"
#include "apps/graph/foreign.hpp"
#include "apps/graph/hold.hpp"
#include "apps/graph/metis.hpp"
#include "apps/graph/pieces.hpp"
#include "apps/graph/readers.hpp"
#include "apps/packed/unpack.hpp"

namespace holdall::graph {

namespace {

constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

bool starts_with(std::string_view head, std::string_view mark) {
  return head.size() >= mark.size() &&
         std::equal(mark.begin(), mark.end(), head.begin(), [](char a, char b) {
           return std::tolower(static_cast<unsigned char>(a)) ==
                  std::tolower(static_cast<unsigned char>(b));
         });
}

// A first word by which a file of another kind is known.
struct Stranger {
  std::string_view mark;
  std::string_view problem;
  std::string_view remedy;
};
constexpr Stranger strangers[] = {
    {"BZh", "is packed by bzip2", "unpack it first: bunzip2"},
    {"PK\x03\x04", "is a zip archive", "unpack it first: unzip"},
    {"\xff\xfe", "is text of 16 bits a character", "save it as UTF-8"},
    {"\xfe\xff", "is text of 16 bits a character", "save it as UTF-8"},
    {"\x89HOL", "is a .hold file that was altered, by a transfer as text perhaps", "copy it again"},
};

bool is_text(std::string_view head) {
  return std::ranges::none_of(head, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == 0x7f || (byte < ' ' && !(byte >= '\t' && byte <= '\r'));
  });
}

GraphFile described(const File& file, Format format) {
  GraphFile graph;
  graph.path = file.path();
  graph.format = format;
  graph.bytes = file.bytes();
  graph.modified_ns = file.modified_ns();
  return graph;
}

void check_same(const File& file, const GraphFile& graph) {
  if (file.bytes() != graph.bytes || file.modified_ns() != graph.modified_ns)
    throw GraphError(graph.path, {}, "the file was changed since it was opened",
                     "open it again, or restore it");
}

}  // namespace

std::string_view to_string(Format format) {
  switch (format) {
    case Format::text:
      return "edge list";
    case Format::matrix_market:
      return "Matrix Market";
    case Format::dimacs:
      return "DIMACS .gr";
    case Format::metis:
      return "METIS .graph";
    case Format::serialized:
      return "GAP .sg";
    case Format::weighted_serialized:
      return "GAP .wsg";
    case Format::galois:
      return "Galois .gr";
    case Format::subway:
      return "Subway .bcsr";
    case Format::emogi:
      return "EMOGI .bel";
    case Format::packed:
      return "packed";
    case Format::hold:
      return ".hold";
  }
  return "unknown";
}

namespace {

bool is_serialized(const File& file) {
  unsigned char header[17];
  std::uint64_t edges = 0, vertices = 0;
  if (file.read_some(0, header, sizeof(header)) < sizeof(header) || header[0] > 1) return false;
  std::memcpy(&edges, header + 1, 8);
  std::memcpy(&vertices, header + 9, 8);
  if (edges > file.bytes() || vertices == 0 || vertices > file.bytes()) return false;
  return 17 + ((vertices + 1) * 8 + edges * 4) * (header[0] + 1) == file.bytes();
}

}  // namespace

GraphFile open_graph(const std::filesystem::path& path) {
  GraphFile graph = describe(std::make_shared<const File>(file_of(path)));
  graph.path = path;
  return graph;
}

GraphFile describe(const std::shared_ptr<const File>& shared) {
  const File& file = *shared;
  if (file.bytes() == 0) throw GraphError(file.path(), {}, "the file is empty; expected a graph");
  constexpr Bytes most = Bytes{64} << 10;
  std::string text(std::min(file.bytes(), most), '\0');
  file.read(0, text.data(), text.size());
  const std::string_view head = std::string_view(text).substr(0, 4096);
  const bool whole = file.bytes() <= most;

  // 1. by a mark at the start
  const std::string_view magic(reinterpret_cast<const char*>(hold_magic.data()), hold_magic.size());
  if (head.starts_with(magic)) return open_hold(file);
  if (packed::is_packed(head)) return described(file, Format::packed);
  for (const Stranger& stranger : strangers)
    if (head.starts_with(stranger.mark))
      throw GraphError(file.path(), {}, stranger.problem, stranger.remedy);
  if (starts_with(head, "%%MatrixMarket")) return described(file, Format::matrix_market);

  // 2. text, by what its lines are like
  const std::string ending = file.path().extension().string();
  if (is_text(head)) {
    if (is_dimacs(text)) return described(file, Format::dimacs);
    if (is_metis(text, whole, ending == ".graph")) return described(file, Format::metis);
    return described(file, Format::text);
  }

  // 3. by whether the counts at the start add up to the length
  if (is_serialized(file)) return open_serialized(file);
  const auto with_counts = [&](Format format, const BinaryGraph& binary) {
    GraphFile graph = described(file, format);
    graph.vertices = binary.vertices;
    graph.edges = binary.edges;
    return graph;
  };
  if (ending == ".col" || ending == ".dst" || ending == ".val")
    if (const auto graph = open_emogi(file.path())) return with_counts(Format::emogi, *graph);
  if (const auto graph = open_galois(shared)) return with_counts(Format::galois, *graph);
  if (const auto graph = open_weighted_serialized(shared))
    return with_counts(Format::weighted_serialized, *graph);
  if (const auto graph = open_subway(shared)) return with_counts(Format::subway, *graph);
  refuse_cut(file);
  if (head[0] == 0 || head[0] == 1) return open_serialized(file);
  throw GraphError(
      file.path(), Byte{0},
      "is of no known kind; expected edge-list text, Matrix Market, DIMACS, METIS, GAP "
      ".sg or .wsg, Galois .gr, Subway .bcsr, EMOGI .bel or .hold");
}

GraphFile open_hold(const File& file) {
  if (file.bytes() < hold_header_bytes)
    throw GraphError(file.path(), Byte{file.bytes()},
                     fmt::format("the file ends inside its header of {} bytes", hold_header_bytes),
                     "get the whole file");
  HoldBlock block;
  file.read(0, block.data(), block.size());
  const auto decoded = decode(block);
  if (const auto* fault = std::get_if<HoldFault>(&decoded))
    throw GraphError(file.path(), Byte{fault->at}, fault->problem,
                     "write the file anew with this version");
  const auto& header = std::get<HoldHeader>(decoded);
  check_vertex_count(file.path(), Byte{24}, header.vertices);
  if (header.file_bytes != file.bytes())
    throw GraphError(
        file.path(), Byte{std::min(header.file_bytes, file.bytes())},
        fmt::format("the file has {} bytes; its header says {}", file.bytes(), header.file_bytes),
        "get the whole file");
  GraphFile graph = described(file, Format::hold);
  graph.directed = header.directed;
  graph.vertices = header.vertices;
  graph.edges = header.edges;
  graph.weights = header.weights;
  graph.out = {header.array(HoldHeader::out_offsets), header.array(HoldHeader::out_neighbours),
               header.array(HoldHeader::out_weights)};
  graph.in = graph.out;
  if (graph.directed)
    graph.in = {header.array(HoldHeader::in_offsets), header.array(HoldHeader::in_neighbours),
                header.array(HoldHeader::in_weights)};
  graph.original_ids = header.array(HoldHeader::original_ids);
  return graph;
}

GraphFile open_serialized(const File& file) {
  constexpr Bytes header_bytes = 17;
  if (file.bytes() < header_bytes)
    throw GraphError(file.path(), Byte{file.bytes()},
                     "is of no known kind; a GAP .sg, the nearest, has 17 bytes at the least");
  unsigned char header[header_bytes];
  file.read(0, header, sizeof(header));
  GraphFile graph = described(file, Format::serialized);
  graph.directed = header[0] != 0;
  std::memcpy(&graph.edges, header + 1, 8);
  std::memcpy(&graph.vertices, header + 9, 8);
  if (graph.vertices == 0 || graph.vertices > most_gap_vertices)
    throw GraphError(file.path(), Byte{9},
                     fmt::format("read as a GAP .sg, it has {} vertices; expected 1 to {}",
                                 graph.vertices, most_gap_vertices),
                     "check that it is a graph");
  if (graph.edges > file.bytes())
    throw GraphError(file.path(), Byte{1},
                     fmt::format("read as a GAP .sg, it has {} edges, in a file of {} bytes",
                                 graph.edges, file.bytes()),
                     "check that it is a graph, and whole");

  graph.out.offsets = {header_bytes, 8, graph.vertices + 1};
  graph.out.neighbours = {graph.out.offsets.end(), 4, graph.edges};
  graph.in = graph.out;
  if (graph.directed) {
    graph.in.offsets = {graph.out.neighbours.end(), 8, graph.vertices + 1};
    graph.in.neighbours = {graph.in.offsets.end(), 4, graph.edges};
  }
  const Bytes expected = graph.in.neighbours.end();
  if (expected == file.bytes()) return graph;
  throw GraphError(file.path(), Byte{std::min(expected, file.bytes())},
                   fmt::format("read as a GAP .sg of {} vertices and {} edges it should have {} "
                               "bytes, and has {}",
                               graph.vertices, graph.edges, expected, file.bytes()),
                   "get the whole file");
}

Array<std::uint64_t> load_offsets(const GraphFile& graph, const FileAdjacency& adjacency) {
  const File file(graph.path);
  check_same(file, graph);
  const FileArray& array = adjacency.offsets;
  auto offsets = Array<std::uint64_t>::uninitialized(array.count);
  file.read_array(array, offsets.data());

  const std::uint64_t edges = adjacency.neighbours.count;
  using Range = tbb::blocked_range<std::uint64_t>;
  const std::uint64_t bad = tbb::parallel_reduce(
      Range(1, array.count, 1 << 16), offsets[0] == 0 ? none : 0,
      [&](const Range& range, std::uint64_t least) {
        for (std::uint64_t i = range.begin(); i < range.end(); ++i)
          if (offsets[i] < offsets[i - 1] || offsets[i] > edges) return std::min(least, i);
        return least;
      },
      [](std::uint64_t a, std::uint64_t b) { return std::min(a, b); });
  if (bad != none) {
    const std::string problem = bad == 0 ? "the first offset is {0}; expected 0"
                                : offsets[bad] > edges
                                    ? "offset {1} is {0}, past the {2} edges"
                                    : "offset {1} is {0}, less than the one before";
    throw GraphError(graph.path, Byte{array.offset + bad * array.element_bytes},
                     fmt::format(fmt::runtime(problem), offsets[bad], bad, edges),
                     "the file is damaged; get it again");
  }
  if (offsets[array.count - 1] != edges)
    throw GraphError(graph.path, Byte{array.end() - array.element_bytes},
                     fmt::format("the last offset is {}; expected the number of edges, {}",
                                 offsets[array.count - 1], edges),
                     "the file is damaged; get it again");
  return offsets;
}

void check_unchanged(const GraphFile& graph) { check_same(File(graph.path), graph); }

namespace {

// Values below `below` where given, and the checksum of a .hold. `problem`: with a value that is
// not.
void check_array(const File& file, const GraphFile& graph, const FileArray& array,
                 std::uint64_t below, const std::string& problem = {}) {
  std::atomic<std::uint64_t> checksum = 0, bad = none;
  for_each_piece(array.bytes(), [&](Bytes first, Bytes bytes) {
    std::vector<std::byte> piece(bytes);
    file.read(array.offset + first, piece.data(), bytes);
    if (graph.format == Format::hold) checksum += piece_checksum(piece, first / piece_bytes);
    for (Bytes at = 0; below != none && at < bytes; at += array.element_bytes) {
      std::uint64_t value = 0;
      std::memcpy(&value, piece.data() + at, array.element_bytes);
      if (value < below) continue;
      for (std::uint64_t known = bad; first + at < known;)
        if (bad.compare_exchange_weak(known, first + at)) break;
      break;
    }
  });
  if (bad != none)
    throw GraphError(graph.path, Byte{array.offset + bad}, problem,
                     "the file is damaged; get it again");
  if (graph.format == Format::hold && checksum != array.checksum)
    throw GraphError(
        graph.path, Byte{array.offset},
        fmt::format("the array of {} bytes here does not match its checksum", array.bytes()),
        "the file is damaged; get it again");
}

}  // namespace

void check_contents(const GraphFile& graph) {
  if (!graph.is_arrays()) return;
  const File file(graph.path);
  check_same(file, graph);
  const auto check_adjacency = [&](const FileAdjacency& adjacency) {
    (void)load_offsets(graph, adjacency);
    check_array(file, graph, adjacency.offsets, none);
    check_array(file, graph, adjacency.neighbours, graph.vertices,
                fmt::format("a neighbour is outside the {} vertices", graph.vertices));
    if (graph.weights != Weights::none)
      check_array(file, graph, adjacency.weights, weights_below(graph.weights),
                  "a weight is negative or no number");
  };
  check_adjacency(graph.out);
  if (graph.directed) check_adjacency(graph.in);
  check_array(file, graph, graph.original_ids, none);
  file.check_unchanged();
}

}  // namespace holdall::graph
