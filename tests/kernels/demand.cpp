#include "kernels/demand.hpp"

#include "tests/kernels/device.hpp"
#include "tests/kernels/graphs.hpp"

namespace holdall::kernels {
namespace {

// What demand_of_frontier says, brought here.
struct Answer {
  std::vector<Vertex> vertices;
  std::vector<std::uint64_t> begins;
  std::vector<std::uint64_t> scan;  // one longer than the items
  std::vector<std::uint64_t> items;
  std::vector<std::uint64_t> edges;
  std::vector<std::uint64_t> bitmap;
  friend bool operator==(const Answer&, const Answer&) = default;
};

Answer serial_demand(const std::vector<Vertex>& frontier, const std::vector<std::uint64_t>& offsets,
                     const ChunkGrid& grid) {
  Answer answer{.vertices = {},
                .begins = {},
                .scan = {0},
                .items = std::vector<std::uint64_t>(grid.chunks() + 1),
                .edges = std::vector<std::uint64_t>(grid.chunks()),
                .bitmap = std::vector<std::uint64_t>(bitmap_words(grid.chunks()))};
  for (const Vertex v : frontier) {
    for (std::uint64_t e = offsets[v]; e < offsets[v + 1];) {
      const std::uint64_t c = grid.chunk_of(e);
      const std::uint64_t end =
          std::min(offsets[v + 1], ((c + 1) * grid.chunk_bytes - grid.offset) / sizeof(Vertex));
      answer.vertices.push_back(v);
      answer.begins.push_back(e);
      answer.scan.push_back(answer.scan.back() + end - e);
      ++answer.items[c + 1];
      answer.edges[c] += end - e;
      answer.bitmap[c / 64] |= 1ull << c % 64;
      e = end;
    }
  }
  for (std::uint64_t c = 0; c < grid.chunks(); ++c) answer.items[c + 1] += answer.items[c];
  return answer;
}

Answer demand(Stream stream, const std::vector<Vertex>& frontier,
              const std::vector<std::uint64_t>& offsets, const ChunkGrid& grid) {
  const std::uint64_t chunks = grid.chunks();
  const std::uint64_t most = frontier.size() + chunks;
  const DeviceArray<Vertex> held_frontier(frontier, stream);
  const DeviceArray<std::uint64_t> held_offsets(offsets, stream);
  const DeviceArray<Vertex> vertices(most, stream);
  const DeviceArray<std::uint64_t> begins(most, stream);
  const DeviceArray<std::uint64_t> scan(most + 1, stream);
  const DeviceArray<std::uint64_t> items(chunks + 1, stream);
  const DeviceArray<std::uint64_t> edges(chunks, stream);
  const DeviceArray<std::uint64_t> bitmap(bitmap_words(chunks), stream);
  const DeviceArray<std::byte> workspace(demand_workspace_bytes(frontier.size(), chunks, stream),
                                         stream);
  demand_of_frontier({held_frontier.data(), frontier.size()}, held_offsets.data(), grid,
                     {most, vertices.data(), begins.data(), scan.data()},
                     {items.data(), edges.data(), bitmap.data()}, workspace.data(), stream);
  Answer answer{vertices.read(), begins.read(), scan.read(),
                items.read(),    edges.read(),  bitmap.read()};
  const std::uint64_t total = answer.items[chunks];
  answer.vertices.resize(total);
  answer.begins.resize(total);
  answer.scan.resize(total + 1);
  return answer;
}

std::vector<std::uint64_t> bitmap_alone(Stream stream, const std::vector<Vertex>& frontier,
                                        const std::vector<std::uint64_t>& offsets,
                                        const ChunkGrid& grid) {
  const DeviceArray<Vertex> held_frontier(frontier, stream);
  const DeviceArray<std::uint64_t> held_offsets(offsets, stream);
  const DeviceArray<std::uint64_t> bitmap(
      std::vector<std::uint64_t>(bitmap_words(grid.chunks()), ~0ull), stream);
  chunks_of_frontier({held_frontier.data(), frontier.size()}, held_offsets.data(), grid,
                     bitmap.data(), stream);
  return bitmap.read();
}

class Demand : public OnDevice {
 protected:
  void expect_as_serial(const std::vector<Vertex>& frontier,
                        const std::vector<std::uint64_t>& offsets, const ChunkGrid& grid) {
    const Answer expected = serial_demand(frontier, offsets, grid);
    EXPECT_EQ(demand(stream(), frontier, offsets, grid), expected);
    EXPECT_EQ(bitmap_alone(stream(), frontier, offsets, grid), expected.bitmap);
  }
};

TEST_P(Demand, EqualsTheSerialOneForAnyFrontierAndChunk) {
  std::mt19937_64 random(3);
  for (const Graph& graph : small_graphs()) {
    for (const Bytes chunk_bytes : {Bytes{64}, Bytes{512}, 1_MiB}) {
      for (const int one_in : {1, 2, 50}) {
        SCOPED_TRACE(graph.name + ", chunk: " + std::to_string(chunk_bytes) +
                     ", of the vertices one in " + std::to_string(one_in));
        std::vector<Vertex> frontier;
        for (Vertex v = 0; v < graph.vertices(); ++v) {
          if (random() % static_cast<unsigned>(one_in) == 0) frontier.push_back(v);
        }
        expect_as_serial(frontier, graph.offsets,
                         {graph.edges(), chunk_bytes, random() % 100 * sizeof(Vertex)});
      }
    }
  }
}

TEST_P(Demand, AnEmptyFrontierDemandsNothing) {
  const Graph graph = small_graphs().back();
  expect_as_serial({}, graph.offsets, {graph.edges(), 64, 0});
}

TEST_P(Demand, AListOfManyChunksIsCutAtEachBorder) {
  // 2^33 edges of one vertex between two small ones, in chunks of 1 MiB.
  const std::uint64_t many = 1ull << 33;
  expect_as_serial({0, 1, 2}, {0, 7, 7 + many, 17 + many}, {17 + many, 1_MiB, 4096});
  expect_as_serial({0, 2}, {0, 7, 7 + many, 17 + many}, {17 + many, 1_MiB, 4096});
}

ON_EVERY_DEVICE(Demand);

}  // namespace
}  // namespace holdall::kernels
