// Our own format, byte by byte: docs/graph-format.md. This is its header in memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "apps/graph/graph_file.hpp"

namespace holdall::graph {

constexpr Bytes hold_header_bytes = 4096;
constexpr Bytes hold_alignment = Bytes{2} << 20;
constexpr std::array<unsigned char, 8> hold_magic = {0x89, 'H', 'O', 'L', 'D', '\r', '\n', 0x1a};

struct HoldHeader {
  enum Kind : std::uint32_t {
    out_offsets = 1,
    out_neighbours = 2,
    in_offsets = 3,
    in_neighbours = 4,
    original_ids = 5,
    out_weights = 6,
    in_weights = 7,
  };
  struct Entry {
    std::uint32_t kind = 0;  // of later versions too: what is not known is passed over
    FileArray array;
  };

  bool directed = false;
  Weights weights = Weights::none;
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  Bytes id_bytes = sizeof(Vertex);  // 4 or 8
  Bytes file_bytes = 0;
  std::vector<Entry> arrays;

  // The array of this kind, or one of count 0.
  FileArray array(Kind kind) const;
};

using HoldBlock = std::array<std::byte, hold_header_bytes>;
HoldBlock encode(const HoldHeader& header);

// What is wrong with a header, and at which byte.
struct HoldFault {
  Bytes at = 0;
  std::string problem;
};
std::variant<HoldHeader, HoldFault> decode(const HoldBlock& block);

// Of `bytes`, the `number`th of the pieces that an array's checksum adds up; fast, and no defence
// against malice.
std::uint64_t piece_checksum(std::span<const std::byte> bytes, std::uint64_t number);

}  // namespace holdall::graph
