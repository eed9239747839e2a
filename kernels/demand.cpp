#include "kernels/demand.hpp"

#include <tbb/parallel_for.h>

#include <atomic>

#include "kernels/gpu.hpp"
#include "kernels/on_host.hpp"
#include "kernels/search.hpp"

namespace holdall::kernels {
namespace {

void demand_of(const Frontier& frontier, const std::uint64_t* offsets, const ChunkGrid& grid,
               const WorkItems& items, const ChunkDemand& demand) {
  // 1. where each vertex's items go
  exclusive_scan(
      frontier.count,
      [&](std::uint64_t i) {
        const Vertex v = frontier.vertices[i];
        return grid.chunks_of({offsets[v], offsets[v + 1] - offsets[v]}).count;
      },
      items.scan);
  const std::uint64_t total = items.scan[frontier.count];

  // 2. the items
  tbb::parallel_for(std::uint64_t{0}, frontier.count, [&](std::uint64_t i) {
    const Vertex v = frontier.vertices[i];
    const ChunkSpan chunks = grid.chunks_of({offsets[v], offsets[v + 1] - offsets[v]});
    for (std::uint64_t k = 0; k < chunks.count; ++k) {
      items.vertices[items.scan[i] + k] = v;
      items.begins[items.scan[i] + k] = std::max(offsets[v], grid.first_edge(chunks.first + k));
    }
  });

  // 3. the edges in each
  exclusive_scan(
      total,
      [&](std::uint64_t item) {
        const std::uint64_t begin = items.begins[item];
        return std::min(offsets[items.vertices[item] + std::uint64_t{1}],
                        grid.first_edge(grid.chunk_of(begin) + 1)) -
               begin;
      },
      items.scan);

  // 4. what each chunk has of them
  const std::uint64_t chunks = grid.chunks();
  demand.items[chunks] = total;
  tbb::parallel_for(std::uint64_t{0}, bitmap_words(chunks), [&](std::uint64_t word) {
    std::uint64_t bits = 0;
    for (std::uint64_t c = word * 64; c < std::min(word * 64 + 64, chunks); ++c) {
      const std::uint64_t first = first_at_least(items.begins, total, grid.first_edge(c));
      const std::uint64_t last = first_at_least(items.begins, total, grid.first_edge(c + 1));
      demand.items[c] = first;
      demand.edges[c] = items.scan[last] - items.scan[first];
      bits |= std::uint64_t{last > first} << c % 64;
    }
    demand.bitmap[word] = bits;
  });
}

void chunks_of(const Frontier& frontier, const std::uint64_t* offsets, const ChunkGrid& grid,
               std::uint64_t* bitmap) {
  std::fill(bitmap, bitmap + bitmap_words(grid.chunks()), 0);
  tbb::parallel_for(std::uint64_t{0}, frontier.count, [&](std::uint64_t i) {
    const Vertex v = frontier.vertices[i];
    const ChunkSpan chunks = grid.chunks_of({offsets[v], offsets[v + 1] - offsets[v]});
    for (std::uint64_t c = chunks.first; c < chunks.first + chunks.count; ++c) {
      const std::atomic_ref word(bitmap[c / 64]);
      const std::uint64_t bit = std::uint64_t{1} << c % 64;
      if ((word.load(std::memory_order_relaxed) & bit) == 0) {
        word.fetch_or(bit, std::memory_order_relaxed);
      }
    }
  });
}

}  // namespace

Bytes demand_workspace_bytes(std::uint64_t vertices, std::uint64_t chunks, Stream stream) {
  if (!stream.on_host()) return gpu::demand_workspace_bytes(vertices, chunks);
  return 0;
}

void demand_of_frontier(const Frontier& frontier, const std::uint64_t* offsets,
                        const ChunkGrid& grid, const WorkItems& items, const ChunkDemand& demand,
                        void* workspace, Stream stream) {
  if (!stream.on_host()) {
    return gpu::demand_of_frontier(frontier, offsets, grid, items, demand, workspace, stream);
  }
  vmm::launch(stream, [=] { demand_of(frontier, offsets, grid, items, demand); });
}

void chunks_of_frontier(const Frontier& frontier, const std::uint64_t* offsets,
                        const ChunkGrid& grid, std::uint64_t* bitmap, Stream stream) {
  if (!stream.on_host()) return gpu::chunks_of_frontier(frontier, offsets, grid, bitmap, stream);
  vmm::launch(stream, [=] { chunks_of(frontier, offsets, grid, bitmap); });
}

}  // namespace holdall::kernels
