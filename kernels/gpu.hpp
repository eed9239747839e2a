// The device bodies of the steps, in the .cu files. What each does stands with the declaration that
// callers use, in the header of the same name; without nvcc, no_gpu.cpp stands in and throws.
#pragma once

#include <cstdint>

#include "kernels/bfs.hpp"
#include "kernels/demand.hpp"
#include "kernels/generate_graph.hpp"
#include "kernels/pagerank.hpp"

namespace holdall::kernels::gpu {

Bytes pagerank_workspace_bytes(std::uint64_t pass_edges, std::uint64_t pass_spans);
void pagerank_start(const PagerankState& state, Stream stream);
void pagerank_begin(const PagerankState& state, Stream stream);
void pagerank_pull(const PagerankState& state, const EdgePass& pass, Stream stream);
void pagerank_finish(const PagerankState& state, Stream stream);
double pagerank_error(const PagerankState& state, Stream stream);

Bytes demand_workspace_bytes(std::uint64_t vertices, std::uint64_t chunks);
void demand_of_frontier(const Frontier& frontier, const std::uint64_t* offsets,
                        const ChunkGrid& grid, const WorkItems& items, const ChunkDemand& demand,
                        void* workspace, Stream stream);
void chunks_of_frontier(const Frontier& frontier, const std::uint64_t* offsets,
                        const ChunkGrid& grid, std::uint64_t* bitmap, Stream stream);

Bytes bfs_workspace_bytes(std::uint64_t vertices, std::uint64_t pass_edges,
                          std::uint64_t pass_ranges);
void bfs_start(const BfsState& state, std::uint32_t source, Stream stream);
void bfs_expand(const BfsState& state, const WorkItems& items, const ItemPass& pass, Stream stream);
std::uint64_t bfs_next_frontier(const BfsState& state, Stream stream);

void* allocate(Bytes bytes, Stream stream);
void free(void* at, Stream stream) noexcept;
void copy(void* to, const void* from, Bytes bytes, Stream stream);

GeneratedGraph generate_graph(const RandomGraph& graph, Stream stream);

}  // namespace holdall::kernels::gpu
