// The device bodies of the steps, in the .cu files. What each does stands with the declaration that
// callers use, in the header of the same name; without nvcc, no_gpu.cpp stands in and throws.
#pragma once

#include <cstdint>

#include "kernels/bfs.hpp"
#include "kernels/centrality.hpp"
#include "kernels/components.hpp"
#include "kernels/counts.hpp"
#include "kernels/demand.hpp"
#include "kernels/generate_graph.hpp"
#include "kernels/kcore.hpp"
#include "kernels/lookup.hpp"
#include "kernels/merge.hpp"
#include "kernels/pagerank.hpp"
#include "kernels/pool.hpp"
#include "kernels/sssp.hpp"
#include "kernels/triangles.hpp"
#include "kernels/visit.hpp"
#include "kernels/write_rows.hpp"

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

Bytes visit_workspace_bytes(std::uint64_t vertices, std::uint64_t pass_edges,
                            std::uint64_t pass_ranges);
std::uint64_t list_vertices(const std::uint64_t* bits, bool value, std::uint64_t vertices,
                            Vertex* list, void* workspace, Stream stream);

ListPart part_of_list(const Vertex* list, std::uint64_t count, std::uint64_t first,
                      std::uint64_t past, void* workspace, Stream stream);

void unite_bits(std::uint64_t* to, const std::uint64_t* from, std::uint64_t words, Stream stream);
void lower_values(std::uint32_t* to, const std::uint32_t* from, std::uint64_t count, Stream stream);
void lower_values(std::uint64_t* to, const std::uint64_t* from, std::uint64_t count, Stream stream);

void bfs_start(const BfsState& state, Vertex source, Stream stream);
void bfs_expand(const BfsState& state, const WorkItems& items, const ItemPass& pass, Stream stream);
void bfs_pull(const BfsState& state, const WorkItems& items, const ItemPass& pass, Stream stream);
std::uint64_t bfs_next_frontier(const BfsState& state, Stream stream);

void components_start(const ComponentsState& state, Stream stream);
Hub components_hub(const ComponentsState& state, Stream stream);
void components_start_with(const ComponentsState& state, const std::uint64_t* joined,
                           Stream stream);
void components_sample(const ComponentsState& state, const EdgePass& pass, std::uint32_t rounds,
                       unsigned blocks, Stream stream);
void components_flatten(const ComponentsState& state, Stream stream);
Vertex components_most_frequent(const ComponentsState& state, Stream stream);
void components_mark_outside(const ComponentsState& state, Vertex label, Stream stream);
void components_clear_bits(const ComponentsState& state, Stream stream);
void components_link(const ComponentsState& state, const WorkItems& items, const ItemPass& pass,
                     Stream stream);
void components_join(const ComponentsState& state, const Vertex* others, Stream stream);
void components_send(const ComponentsState& state, const WorkItems& items, const ItemPass& pass,
                     Stream stream);

void sssp_start(const SsspState& state, Vertex source, Stream stream);
void sssp_choose(const SsspState& state, std::uint32_t limit, Stream stream);
std::uint32_t sssp_nearest(const SsspState& state, Stream stream);
void sssp_relax(const SsspState& state, const WorkItems& items, const ItemPass& pass,
                Stream stream);

void kcore_start(const KcoreState& state, Stream stream);
std::uint32_t kcore_least(const KcoreState& state, Stream stream);
void kcore_mark(const KcoreState& state, std::uint32_t k, Stream stream);
void kcore_peel(const KcoreState& state, std::uint32_t k, std::uint64_t count, Stream stream);
void kcore_drop(const KcoreState& state, std::uint32_t k, const WorkItems& items,
                const ItemPass& pass, Stream stream);

void centrality_clear(const CentralityState& state, Stream stream);
void centrality_clear_bits(const CentralityState& state, Stream stream);
void centrality_start(const CentralityState& state, Vertex source, Stream stream);
void centrality_forward(const CentralityState& state, std::uint32_t depth, const WorkItems& items,
                        const ItemPass& pass, Stream stream);
void centrality_backward(const CentralityState& state, std::uint32_t depth, const WorkItems& items,
                         const ItemPass& pass, Stream stream);
void centrality_add(const CentralityState& state, Vertex source, Stream stream);

void count_triangles(const TrianglesState& state, const EdgeSpan& edges, const VertexSpan& middle,
                     Stream stream);

void* allocate(Bytes bytes, Stream stream);
void free(void* at, Stream stream) noexcept;
void copy(void* to, const void* from, Bytes bytes, Stream stream);

GeneratedGraph generate_graph(const RandomGraph& graph, Stream stream);

void gather(const TableView& table, const LookupIn& in, const RowsOut& out, Stream stream);
void locate(const TableView& table, const LookupIn& in, std::uint32_t* positions,
            const ColdList& list, Stream stream);
void gather_hot(const TableView& table, const std::uint32_t* positions, std::uint64_t count,
                const RowsOut& out, Stream stream);
Bytes sort_list_bytes(std::uint32_t capacity);
void sort_list(const ColdList& list, const ColdList& sorted, std::uint32_t low_bit, void* workspace,
               Stream stream);
void gather_cold(const TableView& table, const ColdList& list, std::uint32_t part,
                 std::uint32_t parts, const RowsOut& out, std::uint32_t blocks, Stream stream);
void gather_staged(const TableView& table, const ColdList& list, std::byte* staged,
                   std::uint32_t part, std::uint32_t parts, const RowsOut& out, Stream stream);

void find(const TableView& table, const std::uint64_t* keys, std::uint64_t count,
          const ColdList& list, std::uint64_t* unknown, Stream stream);
void write_rows(const TableView& table, const ColdList& sorted, const RowsIn& rows, Stream stream);
void insert(const TableView& table, const std::uint64_t* keys, std::uint64_t count,
            const FreePlaces& free, Stream stream);
void assign(const TableView& table, const std::uint64_t* keys, const std::uint32_t* places,
            std::uint64_t count, Stream stream);
void erase(const TableView& table, const std::uint64_t* keys, std::uint64_t count,
           const FreePlaces& free, Stream stream);
void copy_rows(const TableView& table, const Move* moves, std::uint32_t count, Stream stream);
void cross_rows(const TableView& table, std::uint32_t first, std::uint32_t count, bool up,
                Stream stream);
void flip_entries(const TableView& table, const Move* moves, std::uint32_t count,
                  std::uint32_t* left, Stream stream);

void count_entries(const TableView& table, const std::uint32_t* counts, const Histograms& to,
                   Stream stream);
void choose_moves(const TableView& table, const std::uint32_t* counts, const Choice& choice,
                  Stream stream);
void halve_counts(std::uint32_t* counts, std::uint64_t entries, std::uint32_t times, Stream stream);

void pool(const TableView& table, const Bags& bags, const Staged& staged, LookupCounts* counts,
          const RowsOut& out, Stream stream);
void pool_many(const PooledTable* tables, std::uint64_t count, const Bags& bags,
               LookupCounts* counts, const RowsOut& out, Stream stream);
void stage_rows(const TableView& table, const ColdList& sorted, std::uint32_t* positions,
                std::byte* staged, std::uint32_t blocks, Stream stream);

}  // namespace holdall::kernels::gpu
