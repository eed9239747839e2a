#include "apps/graph/write.hpp"

#include <fmt/format.h>
#include <oneapi/tbb/parallel_pipeline.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstring>
#include <span>
#include <string>

#include "apps/graph/error.hpp"
#include "apps/graph/file.hpp"
#include "apps/graph/hold.hpp"
#include "apps/graph/pieces.hpp"

namespace holdall::graph {

namespace {

template <typename T>
std::span<const std::byte> bytes_of(const Array<T>& array) {
  return std::as_bytes(std::span<const T>(array));
}

void write_hold(const Csr& csr, NewFile& file) {
  HoldHeader header;
  header.directed = csr.directed;
  header.weights = csr.weights;
  header.vertices = csr.vertices();
  header.edges = csr.edges();
  Bytes end = hold_header_bytes;
  const auto append = [&](HoldHeader::Kind kind, std::span<const std::byte> bytes,
                          Bytes element_bytes) {
    const Bytes begin = round_up(end, hold_alignment);
    std::atomic<std::uint64_t> checksum = 0;
    for_each_piece(bytes.size(), [&](Bytes first, Bytes length) {
      checksum += piece_checksum(bytes.subspan(first, length), first / piece_bytes);
      file.write(begin + first, bytes.data() + first, length);
    });
    header.arrays.push_back({kind, {begin, element_bytes, bytes.size() / element_bytes, checksum}});
    end = begin + bytes.size();
  };
  append(HoldHeader::out_offsets, bytes_of(csr.out.offsets), 8);
  append(HoldHeader::out_neighbours, bytes_of(csr.out.neighbours), 4);
  if (csr.directed) {
    append(HoldHeader::in_offsets, bytes_of(csr.transposed.offsets), 8);
    append(HoldHeader::in_neighbours, bytes_of(csr.transposed.neighbours), 4);
  }
  if (csr.weights != Weights::none) {
    append(HoldHeader::out_weights, bytes_of(csr.out.weights), 4);
    if (csr.directed) append(HoldHeader::in_weights, bytes_of(csr.transposed.weights), 4);
  }
  if (!csr.original_ids.empty()) append(HoldHeader::original_ids, bytes_of(csr.original_ids), 4);
  header.file_bytes = round_up(end, hold_alignment);
  file.resize(header.file_bytes);
  file.write(0, encode(header).data(), hold_header_bytes);
}

void write_serialized(const Csr& csr, NewFile& file, const std::filesystem::path& path) {
  if (csr.vertices() > most_vertices / 2)
    throw GraphError(
        path, {},
        fmt::format("{} vertices; a GAP .sg holds at most {}", csr.vertices(), most_vertices / 2),
        "write a .hold");
  unsigned char header[17];
  const std::uint64_t edges = csr.edges(), vertices = csr.vertices();
  header[0] = csr.directed ? 1 : 0;
  std::memcpy(header + 1, &edges, 8);
  std::memcpy(header + 9, &vertices, 8);
  file.write(0, header, sizeof(header));
  Bytes end = sizeof(header);
  const auto append = [&](std::span<const std::byte> bytes) {
    for_each_piece(bytes.size(), [&](Bytes first, Bytes length) {
      file.write(end + first, bytes.data() + first, length);
    });
    end += bytes.size();
  };
  append(bytes_of(csr.out.offsets));
  append(bytes_of(csr.out.neighbours));
  if (csr.directed) {
    append(bytes_of(csr.transposed.offsets));
    append(bytes_of(csr.transposed.neighbours));
  }
}

// A line an edge: pieces of the edges are formatted by all threads and written in order.
// `base`: the id of the first vertex; `lower`: undirected edges as `greater smaller`.
void write_lines(const Csr& csr, NewFile& file, std::string head, std::uint64_t base, bool lower) {
  constexpr std::uint64_t piece_edges = 1 << 15;
  const auto& offsets = csr.out.offsets;
  const auto format = [&](std::uint64_t first) {
    const std::uint64_t last = std::min(first + piece_edges, csr.edges());
    auto v = static_cast<std::uint64_t>(std::upper_bound(offsets.begin(), offsets.end(), first) -
                                        offsets.begin()) -
             1;
    std::string lines((last - first) * 22, '\0');
    char* at = lines.data();
    char* const end = at + lines.size();
    for (std::uint64_t e = first; e < last; ++e) {
      while (offsets[v + 1] <= e) ++v;
      const std::uint64_t to = csr.out.neighbours[e];
      if (!csr.directed && (lower ? to > v : to < v)) continue;
      at = std::to_chars(at, end, v + base).ptr;
      *at++ = ' ';
      at = std::to_chars(at, end, to + base).ptr;
      *at++ = '\n';
    }
    lines.resize(static_cast<std::size_t>(at - lines.data()));
    return lines;
  };

  file.write(0, head.data(), head.size());
  Bytes end = head.size();
  std::uint64_t next = 0;
  using tbb::filter_mode;
  tbb::parallel_pipeline(
      16, tbb::make_filter<void, std::uint64_t>(filter_mode::serial_in_order,
                                                [&](tbb::flow_control& control) {
                                                  const std::uint64_t first = next;
                                                  if (first >= csr.edges()) control.stop();
                                                  next += piece_edges;
                                                  return first;
                                                }) &
              tbb::make_filter<std::uint64_t, std::string>(filter_mode::parallel, format) &
              tbb::make_filter<std::string, void>(filter_mode::serial_in_order,
                                                  [&](const std::string& lines) {
                                                    file.write(end, lines.data(), lines.size());
                                                    end += lines.size();
                                                  }));
}

void write_matrix_market(const Csr& csr, NewFile& file) {
  std::uint64_t entries = csr.edges();
  if (!csr.directed) entries = (entries + summarize(csr).self_loops) / 2;
  write_lines(
      csr, file,
      fmt::format("%%MatrixMarket matrix coordinate pattern {}\n{} {} {}\n",
                  csr.directed ? "general" : "symmetric", csr.vertices(), csr.vertices(), entries),
      1, true);
}

}  // namespace

Output output_of(const std::filesystem::path& path) {
  const std::string ending = path.extension().string();
  if (ending == ".hold") return Output::hold;
  if (ending == ".sg") return Output::serialized;
  if (ending == ".el" || ending == ".txt") return Output::text;
  if (ending == ".mtx") return Output::matrix_market;
  throw GraphError(path, {},
                   fmt::format("'{}' names no format to write; expected .hold, .sg, .el, .txt or "
                               ".mtx",
                               ending));
}

void write_graph(const Csr& csr, const std::filesystem::path& path, Output output) {
  NewFile file(path);
  switch (output) {
    case Output::hold:
      write_hold(csr, file);
      break;
    case Output::serialized:
      write_serialized(csr, file, path);
      break;
    case Output::text:
      write_lines(csr, file, "", 0, false);
      break;
    case Output::matrix_market:
      write_matrix_market(csr, file);
      break;
  }
  file.finish();
}

void convert(const std::filesystem::path& from, const std::filesystem::path& to,
             const LoadOptions& options, LoadReport* report) {
  const Output output = output_of(to);
  write_graph(load_graph(from, options, report), to, output);
}

}  // namespace holdall::graph
