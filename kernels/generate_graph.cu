#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_select.cuh>

#include "kernels/gpu.hpp"
#include "kernels/on_gpu.cuh"
#include "kernels/search.hpp"

namespace holdall::kernels::gpu {
namespace {

// A pair is an edge in one direction, in 2 * scale bits: source, then target.

__global__ void draw(RandomGraph graph, std::uint64_t* pairs) {
  const std::uint64_t i = thread_index();
  if (i >= graph.edges()) return;
  const RandomEdge edge = random_edge(graph, i);
  pairs[2 * i] = std::uint64_t{edge.from} << graph.scale | edge.to;
  pairs[2 * i + 1] = std::uint64_t{edge.to} << graph.scale | edge.from;
}

// Whether a sorted pair is the first of its kind, and no loop.
struct Kept {
  const std::uint64_t* pairs;
  unsigned scale;
  __device__ bool operator()(std::uint64_t i) const {
    const std::uint64_t pair = pairs[i];
    if (pair >> scale == (pair & ((std::uint64_t{1} << scale) - 1))) return false;
    return i == 0 || pair != pairs[i - 1];
  }
};

__global__ void write_offsets(RandomGraph graph, const std::uint64_t* __restrict__ pairs,
                              std::uint64_t edges, std::uint64_t* offsets) {
  const std::uint64_t v = thread_index();
  if (v > graph.vertices()) return;
  offsets[v] = v == graph.vertices() ? edges : first_at_least(pairs, edges, v << graph.scale);
}

__global__ void write_neighbours(RandomGraph graph, const std::uint64_t* __restrict__ pairs,
                                 std::uint64_t edges, Vertex* neighbours) {
  const std::uint64_t e = thread_index();
  if (e < edges) neighbours[e] = static_cast<Vertex>(pairs[e] & (graph.vertices() - 1));
}

}  // namespace

GeneratedGraph generate_graph(const RandomGraph& graph, Stream stream) {
  const OnDeviceOf device(stream);
  const std::uint64_t drawn = 2 * graph.edges();
  DeviceArray<std::uint64_t> sorted(drawn, stream);
  DeviceArray<std::uint64_t> kept(drawn, stream);

  // 1. draw and sort
  launch_threads(draw, graph.edges(), stream, graph, sorted.data());
  {
    cub::DoubleBuffer<std::uint64_t> pairs(sorted.data(), kept.data());
    const int bits = static_cast<int>(2 * graph.scale);
    std::size_t bytes = 0;
    check(cub::DeviceRadixSort::SortKeys(nullptr, bytes, pairs, drawn, 0, bits, stream.cuda()));
    const DeviceArray<std::byte> storage(bytes, stream);
    check(cub::DeviceRadixSort::SortKeys(storage.data(), bytes, pairs, drawn, 0, bits,
                                         stream.cuda()));
    check(cudaStreamSynchronize(stream.cuda()));
    if (pairs.Current() != sorted.data()) sorted.swap(kept);
  }

  // 2. keep one of each, in slices that any version of the selection can count
  std::uint64_t edges = 0;
  {
    constexpr std::uint64_t slice = std::uint64_t{1} << 30;
    const auto kept_flags = [&](std::uint64_t first) {
      return thrust::make_transform_iterator(thrust::make_counting_iterator(first),
                                             Kept{sorted.data(), graph.scale});
    };
    std::size_t bytes = 0;
    const DeviceArray<std::uint64_t> count(1, stream);
    check(cub::DeviceSelect::Flagged(nullptr, bytes, sorted.data(), kept_flags(0), kept.data(),
                                     count.data(), static_cast<std::int64_t>(slice),
                                     stream.cuda()));
    const DeviceArray<std::byte> storage(bytes, stream);
    for (std::uint64_t first = 0; first < drawn; first += slice) {
      check(cub::DeviceSelect::Flagged(
          storage.data(), bytes, sorted.data() + first, kept_flags(first), kept.data() + edges,
          count.data(), static_cast<std::int64_t>(min(slice, drawn - first)), stream.cuda()));
      edges += read_back(count.data(), stream);
    }
  }
  sorted = {};

  // 3. offsets and neighbours
  GeneratedGraph made{.vertices = graph.vertices(),
                      .edges = edges,
                      .offsets = {graph.vertices() + 1, stream},
                      .neighbours = {edges, stream}};
  launch_threads(write_offsets, graph.vertices() + 1, stream, graph, kept.data(), edges,
                 made.offsets.data());
  launch_threads(write_neighbours, edges, stream, graph, kept.data(), edges,
                 made.neighbours.data());
  check(cudaStreamSynchronize(stream.cuda()));
  return made;
}

}  // namespace holdall::kernels::gpu
