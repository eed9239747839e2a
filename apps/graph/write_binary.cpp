#include "apps/graph/write_binary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <span>
#include <system_error>
#include <vector>

#include "apps/graph/error.hpp"
#include "apps/graph/hold.hpp"
#include "apps/graph/pieces.hpp"

namespace holdall::graph {

namespace {

template <typename T>
std::span<const std::byte> bytes_of(const Array<T>& array) {
  return std::as_bytes(std::span<const T>(array));
}

// Appends arrays to a file, as they are or made piece by piece.
class Appender {
 public:
  explicit Appender(NewFile& file) : file_(file) {}

  void append(std::span<const std::byte> bytes) {
    for_each_piece(bytes.size(), [&](Bytes first, Bytes length) {
      file_.write(end_ + first, bytes.data() + first, length);
    });
    end_ += bytes.size();
  }
  template <typename T>
  void append(const T& value) {
    append(std::as_bytes(std::span(&value, 1)));
  }
  // `value(i)` for i below `count`.
  template <typename Value>
  void append(std::uint64_t count, Value value) {
    using T = decltype(value(std::uint64_t{0}));
    for_each_piece(count * sizeof(T), [&](Bytes first, Bytes length) {
      std::vector<T> piece(length / sizeof(T));
      for (std::uint64_t i = 0; i < piece.size(); ++i) piece[i] = value(first / sizeof(T) + i);
      file_.write(end_ + first, piece.data(), length);
    });
    end_ += count * sizeof(T);
  }

 private:
  NewFile& file_;
  Bytes end_ = 0;
};

// A neighbour and the weight of the edge to it.
struct Pair {
  std::uint32_t neighbour, weight;
};
// Ids of 32 bits, which the callers have made sure of.
void append_neighbours(Appender& to, const Adjacency& adjacency, bool weighted) {
  const auto neighbour = [&](std::uint64_t e) {
    return static_cast<std::uint32_t>(adjacency.neighbours[e]);
  };
  if (weighted)
    to.append(adjacency.neighbours.size(), [&](std::uint64_t e) {
      return Pair{neighbour(e), adjacency.weights[e]};
    });
  else if constexpr (sizeof(Vertex) == sizeof(std::uint32_t))
    to.append(bytes_of(adjacency.neighbours));
  else
    to.append(adjacency.neighbours.size(), neighbour);
}

}  // namespace

void write_hold(const Csr& csr, NewFile& file) {
  HoldHeader header;
  header.directed = csr.directed;
  header.weights = csr.weights;
  header.vertices = csr.vertices();
  header.edges = csr.edges();
  Bytes end = hold_header_bytes;
  const auto append = [&]<typename T>(HoldHeader::Kind kind, const Array<T>& array) {
    const std::span<const std::byte> bytes = bytes_of(array);
    const Bytes begin = round_up(end, hold_alignment);
    std::atomic<std::uint64_t> checksum = 0;
    for_each_piece(bytes.size(), [&](Bytes first, Bytes length) {
      checksum += piece_checksum(bytes.subspan(first, length), first / piece_bytes);
      file.write(begin + first, bytes.data() + first, length);
    });
    header.arrays.push_back({kind, {begin, sizeof(T), array.size(), checksum}});
    end = begin + bytes.size();
  };
  append(HoldHeader::out_offsets, csr.out.offsets);
  append(HoldHeader::out_neighbours, csr.out.neighbours);
  if (csr.directed) {
    append(HoldHeader::in_offsets, csr.transposed.offsets);
    append(HoldHeader::in_neighbours, csr.transposed.neighbours);
  }
  if (csr.weights != Weights::none) {
    append(HoldHeader::out_weights, csr.out.weights);
    if (csr.directed) append(HoldHeader::in_weights, csr.transposed.weights);
  }
  if (!csr.original_ids.empty()) append(HoldHeader::original_ids, csr.original_ids);
  header.file_bytes = round_up(end, hold_alignment);
  file.resize(header.file_bytes);
  file.write(0, encode(header).data(), hold_header_bytes);
}

void write_serialized(const Csr& csr, NewFile& file, const std::filesystem::path& path,
                      bool weighted) {
  if (csr.vertices() > most_gap_vertices)
    throw GraphError(
        path, {},
        fmt::format("{} vertices; a GAP graph holds at most {}", csr.vertices(), most_gap_vertices),
        "write a .hold");
  Appender to(file);
  to.append(static_cast<unsigned char>(csr.directed ? 1 : 0));
  to.append(csr.edges());
  to.append(csr.vertices());
  to.append(bytes_of(csr.out.offsets));
  append_neighbours(to, csr.out, weighted);
  if (!csr.directed) return;
  to.append(bytes_of(csr.transposed.offsets));
  append_neighbours(to, csr.transposed, weighted);
}

void write_subway(const Csr& csr, NewFile& file, const std::filesystem::path& path, bool weighted) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  if (csr.vertices() > most || csr.edges() > most)
    throw GraphError(
        path, {},
        fmt::format("{} vertices and {} edges; a Subway graph holds at most {} of each",
                    csr.vertices(), csr.edges(), most),
        "write a .hold");
  Appender to(file);
  to.append(static_cast<std::uint32_t>(csr.vertices()));
  to.append(static_cast<std::uint32_t>(csr.edges()));
  to.append(csr.vertices(),
            [&](std::uint64_t v) { return static_cast<std::uint32_t>(csr.out.offsets[v]); });
  append_neighbours(to, csr.out, weighted);
}

void write_emogi(const Csr& csr, const std::filesystem::path& path) {
  const auto named = [&](const char* ending) {
    std::filesystem::path whole = path;
    return whole += ending;
  };
  const auto head = [](Appender& to, std::uint64_t count) {
    to.append(count);
    to.append(std::uint64_t{0});
  };
  NewFile offsets(named(".col")), neighbours(named(".dst"));
  Appender to_offsets(offsets), to_neighbours(neighbours);
  head(to_offsets, csr.vertices() + 1);
  to_offsets.append(bytes_of(csr.out.offsets));
  head(to_neighbours, csr.edges());
  to_neighbours.append(csr.edges(),
                       [&](std::uint64_t e) { return std::uint64_t{csr.out.neighbours[e]}; });
  if (csr.weights != Weights::none) {
    NewFile weights(named(".val"));
    Appender to_weights(weights);
    head(to_weights, csr.edges());
    to_weights.append(bytes_of(csr.out.weights));
    weights.finish();
  } else {
    std::error_code ignored;
    std::filesystem::remove(named(".val"), ignored);
  }
  offsets.finish();
  neighbours.finish();
}

}  // namespace holdall::graph
