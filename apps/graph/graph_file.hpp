// A graph that stays in its file: where each array lies, so that pages can be read from there.
//
//   graph::GraphFile file = graph::open_graph("twitter.hold");
//   if (file.in_place()) {
//     auto offsets = graph::load_offsets(file, file.out);
//     engine.reserve<graph::Vertex>(file.out.neighbours.count,
//                                   {.backing = holdall::file(file.path,
//                                   file.out.neighbours.offset)});
//   }
//
// The format is told by the contents, never by the name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "apps/graph/csr.hpp"
#include "engine/vmm/bytes.hpp"

namespace holdall::graph {

enum class Format {
  text,                 // an edge a line, as SNAP, KONECT and many others have it
  matrix_market,        // .mtx, coordinate
  dimacs,               // .gr of the 9th DIMACS challenge
  metis,                // .graph
  serialized,           // .sg of the GAP benchmark suite
  weighted_serialized,  // .wsg of the same
  galois,               // .gr
  subway,               // .bcsr, .bwcsr
  emogi,                // .bel.col, .bel.dst, .bel.val
  packed,               // any of these in gzip, zstd or xz; which, load_graph() says
  hold,                 // our own: docs/graph-format.md
};
std::string_view to_string(Format format);
constexpr std::uint64_t most_gap_vertices = std::uint64_t{1} << 31;  // of an .sg or .wsg

// `count` elements of `element_bytes` each, little-endian, from byte `offset` of the file.
struct FileArray {
  Bytes offset = 0;
  Bytes element_bytes = 0;
  std::uint64_t count = 0;
  std::uint64_t checksum = 0;  // .hold only: docs/graph-format.md

  Bytes bytes() const { return count * element_bytes; }
  Bytes end() const { return offset + bytes(); }
};

struct FileAdjacency {
  FileArray offsets;       // 64-bit, vertices + 1
  FileArray neighbours;    // ids of 32 bits, or of 64, edges
  FileArray weights = {};  // 32-bit, edges; count 0 where there are none
};

struct GraphFile {
  std::filesystem::path path;
  Format format = Format::text;
  Bytes bytes = 0;               // length of the file
  std::int64_t modified_ns = 0;  // since the epoch

  // What follows is known only if is_arrays().
  bool directed = false;
  Weights weights = Weights::none;
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;  // entries of the out-neighbours: an undirected edge makes two
  FileAdjacency out;
  FileAdjacency in;        // the same arrays as `out` where undirected
  FileArray original_ids;  // ids, one a vertex, where ids were compacted; else count 0

  // What the file holds are arrays,
  bool is_arrays() const { return format == Format::serialized || format == Format::hold; }
  // ... which can be read where they are. False: load_graph() reads it.
  bool in_place() const { return is_arrays() && out.neighbours.element_bytes == sizeof(Vertex); }
};

// Reads the header alone and checks it against itself and the length of the file. The arrays of a
// .hold begin on 2 MiB; those of an .sg lie at any byte.
// Throws GraphError: missing, empty, unreadable, of no known kind, truncated, altered.
GraphFile open_graph(const std::filesystem::path& path);

// The offsets in memory, checked: from 0, never decreasing, up to the number of neighbours.
// `adjacency` is file.out or file.in. Throws GraphError with the byte of the first bad one.
Array<std::uint64_t> load_offsets(const GraphFile& file, const FileAdjacency& adjacency);

// Throws GraphError if the file has another length or modification time than when it was opened.
void check_unchanged(const GraphFile& file);

// Reads the whole file: offsets, ids below the number of vertices, and for .hold the checksums.
// Throws GraphError with the byte of what is wrong.
void check_contents(const GraphFile& file);

}  // namespace holdall::graph
