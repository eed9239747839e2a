#include "apps/graph/foreign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <system_error>

#include "apps/graph/error.hpp"

namespace holdall::graph {

namespace {

using Shared = std::shared_ptr<const File>;

// The numbers at the start, zeros where the file is shorter.
template <typename T, std::size_t count>
std::array<T, count> numbers_at(const File& file, Bytes offset) {
  std::array<T, count> numbers{};
  (void)file.read_some(offset, numbers.data(), sizeof(numbers));
  return numbers;
}

// Counts that a file of this length may have, so that sums of sizes stay small.
bool fit(const File& file, std::uint64_t vertices, std::uint64_t edges) {
  return vertices >= 1 && vertices <= file.bytes() && edges <= file.bytes();
}

bool is_file(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

std::filesystem::path with(std::filesystem::path base, const char* ending) {
  return base += ending;
}

// NAME of EMOGI's files.
std::filesystem::path base_of(std::filesystem::path path) {
  const auto ending = path.extension();
  if (ending == ".col" || ending == ".dst" || ending == ".val") path.replace_extension();
  return path;
}

struct EmogiColumn {
  BinaryColumn column;
  std::uint64_t count = 0;
};
std::optional<EmogiColumn> emogi_column(const std::filesystem::path& path, bool weights) {
  constexpr Bytes header = 16;
  const auto file = std::make_shared<const File>(path);
  const std::uint64_t count = numbers_at<std::uint64_t, 1>(*file, 0)[0];
  if (count > file->bytes()) return {};
  for (const Bytes width : {weights ? Bytes{4} : Bytes{8}, weights ? Bytes{8} : Bytes{4}})
    if (header + count * width == file->bytes())
      return EmogiColumn{{file, header, width, width}, count};
  return {};
}

}  // namespace

std::optional<BinaryGraph> open_weighted_serialized(Shared file) {
  constexpr Bytes header = 17, pair = 8;
  if (file->bytes() < header) return {};
  const auto directed = numbers_at<unsigned char, 1>(*file, 0)[0];
  const auto [edges, vertices] = numbers_at<std::uint64_t, 2>(*file, 1);
  if (directed > 1 || !fit(*file, vertices, edges)) return {};
  const Bytes lists = (vertices + 1) * 8 + edges * pair;
  if (header + lists * (directed != 0 ? 2 : 1) != file->bytes()) return {};
  const Bytes neighbours = header + (vertices + 1) * 8;
  return BinaryGraph{.vertices = vertices,
                     .edges = edges,
                     .offsets = {file, header, 8, 8},
                     .neighbours = {file, neighbours, 4, pair},
                     .weights = BinaryColumn{file, neighbours + 4, 4, pair},
                     .undirected = directed == 0};
}

std::optional<BinaryGraph> open_galois(Shared file) {
  constexpr Bytes header = 32;
  if (file->bytes() < header) return {};
  const auto [version, weight_bytes, vertices, edges] = numbers_at<std::uint64_t, 4>(*file, 0);
  if (version < 1 || version > 2 || weight_bytes > 64 || !fit(*file, vertices, edges)) return {};
  const Bytes id = version == 1 ? 4 : 8;
  const Bytes neighbours = header + vertices * 8;
  const Bytes bare = neighbours + edges * id;
  const Bytes filled = bare + edges % 2 * id;
  const Bytes weights = edges * weight_bytes;
  // Both ways of filling up a second version are about, and files that end with their neighbours.
  Bytes weights_at = 0;
  if (file->bytes() == filled + weights)
    weights_at = filled;
  else if (file->bytes() == bare + weights && (version == 2 || weights == 0))
    weights_at = bare;
  else
    return {};
  check_vertex_count(file->path(), Byte{16}, vertices);
  BinaryGraph graph{.vertices = vertices,
                    .edges = edges,
                    .offsets = {file, header, 8, 8},
                    .kind = BinaryGraph::Offsets::ends,
                    .neighbours = {file, neighbours, id, id}};
  if (weight_bytes > 0) graph.weights = BinaryColumn{file, weights_at, weight_bytes, weight_bytes};
  return graph;
}

std::optional<BinaryGraph> open_subway(Shared file) {
  constexpr Bytes header = 8;
  if (file->bytes() < header) return {};
  const auto [vertices, edges] = numbers_at<std::uint32_t, 2>(*file, 0);
  if (!fit(*file, vertices, edges)) return {};
  const Bytes neighbours = header + Bytes{vertices} * 4;
  BinaryGraph graph{.vertices = vertices,
                    .edges = edges,
                    .offsets = {file, header, 4, 4},
                    .kind = BinaryGraph::Offsets::begins,
                    .neighbours = {file, neighbours, 4, 4}};
  if (neighbours + Bytes{edges} * 4 == file->bytes()) return graph;
  if (neighbours + Bytes{edges} * 8 != file->bytes()) return {};
  graph.neighbours.stride = 8;
  graph.weights = BinaryColumn{file, neighbours + 4, 4, 8};
  return graph;
}

std::optional<BinaryGraph> open_emogi(const std::filesystem::path& path) {
  const std::filesystem::path base = base_of(path);
  const auto offsets_path = with(base, ".col"), neighbours_path = with(base, ".dst");
  if (!is_file(offsets_path) || !is_file(neighbours_path)) return {};
  const auto read = [](const std::filesystem::path& from, bool weights) {
    auto column = emogi_column(from, weights);
    if (!column)
      throw GraphError(from, Byte{0},
                       "the count at its start does not agree with the length of the file",
                       "get the whole file");
    return *std::move(column);
  };
  const EmogiColumn offsets = read(offsets_path, false);
  const EmogiColumn neighbours = read(neighbours_path, false);
  if (offsets.count < 2)
    throw GraphError(offsets_path, Byte{0},
                     fmt::format("{} offsets; expected one more than vertices, of which there "
                                 "must be one",
                                 offsets.count));
  check_vertex_count(offsets_path, Byte{0}, offsets.count - 1);
  BinaryGraph graph{.vertices = offsets.count - 1,
                    .edges = neighbours.count,
                    .offsets = offsets.column,
                    .neighbours = neighbours.column};
  const auto weights_path = with(base, ".val");
  if (!is_file(weights_path)) return graph;
  const EmogiColumn weights = read(weights_path, true);
  if (weights.count != graph.edges)
    throw GraphError(
        weights_path, Byte{0},
        fmt::format("{} weights for {} edges; expected one each", weights.count, graph.edges));
  graph.weights = weights.column;
  return graph;
}

std::filesystem::path file_of(const std::filesystem::path& path) {
  const auto offsets = with(path, ".col");
  return !is_file(path) && is_file(offsets) ? offsets : path;
}

void refuse_cut(const File& file) {
  const auto [version, weight_bytes, vertices, edges] = numbers_at<std::uint64_t, 4>(file, 0);
  const std::string ending = file.path().extension().string();
  if ((version == 1 || version == 2) &&
      (weight_bytes == 0 || weight_bytes == 4 || weight_bytes == 8)) {
    const Bytes id = version == 1 ? 4 : 8;
    throw GraphError(
        file.path(), Byte{file.bytes()},
        fmt::format("read as a Galois .gr of version {}, {} vertices and {} edges it should have "
                    "{} bytes, and has {}",
                    version, vertices, edges,
                    32 + vertices * 8 + (edges + edges % 2) * id + edges * weight_bytes,
                    file.bytes()),
        "get the whole file");
  }
  if (ending != ".bcsr" && ending != ".bwcsr") return;
  const auto [n, m] = numbers_at<std::uint32_t, 2>(file, 0);
  throw GraphError(
      file.path(), Byte{file.bytes()},
      fmt::format("read as a Subway {} of {} vertices and {} edges it should have {} bytes, and "
                  "has {}",
                  ending, n, m, 8 + Bytes{n} * 4 + Bytes{m} * (ending == ".bcsr" ? 4 : 8),
                  file.bytes()),
      "get the whole file");
}

}  // namespace holdall::graph
