// Stands in for the device bodies where the library is built without nvcc.
#include "engine/vmm/error.hpp"
#include "kernels/gpu.hpp"

namespace holdall::kernels::gpu {
namespace {

[[noreturn]] void refuse() {
  throw Error(
      "the stream is a GPU's, but this library was built without CUDA: build it with nvcc "
      "(-Dcuda=enabled), or use a stream of the host driver");
}

}  // namespace

Bytes pagerank_workspace_bytes(std::uint64_t, std::uint64_t) { refuse(); }
void pagerank_start(const PagerankState&, Stream) { refuse(); }
void pagerank_begin(const PagerankState&, Stream) { refuse(); }
void pagerank_pull(const PagerankState&, const EdgePass&, Stream) { refuse(); }
void pagerank_finish(const PagerankState&, Stream) { refuse(); }
double pagerank_error(const PagerankState&, Stream) { refuse(); }

Bytes demand_workspace_bytes(std::uint64_t, std::uint64_t) { refuse(); }
void demand_of_frontier(const Frontier&, const std::uint64_t*, const ChunkGrid&, const WorkItems&,
                        const ChunkDemand&, void*, Stream) {
  refuse();
}
void chunks_of_frontier(const Frontier&, const std::uint64_t*, const ChunkGrid&, std::uint64_t*,
                        Stream) {
  refuse();
}

Bytes visit_workspace_bytes(std::uint64_t, std::uint64_t, std::uint64_t) { refuse(); }
std::uint64_t list_vertices(const std::uint64_t*, bool, std::uint64_t, Vertex*, void*, Stream) {
  refuse();
}

ListPart part_of_list(const Vertex*, std::uint64_t, std::uint64_t, std::uint64_t, void*, Stream) {
  refuse();
}

void unite_bits(std::uint64_t*, const std::uint64_t*, std::uint64_t, Stream) { refuse(); }
void lower_values(std::uint32_t*, const std::uint32_t*, std::uint64_t, Stream) { refuse(); }
void lower_values(std::uint64_t*, const std::uint64_t*, std::uint64_t, Stream) { refuse(); }

void bfs_start(const BfsState&, Vertex, Stream) { refuse(); }
void bfs_expand(const BfsState&, const WorkItems&, const ItemPass&, Stream) { refuse(); }
void bfs_pull(const BfsState&, const WorkItems&, const ItemPass&, Stream) { refuse(); }
std::uint64_t bfs_next_frontier(const BfsState&, Stream) { refuse(); }

void components_start(const ComponentsState&, Stream) { refuse(); }
Hub components_hub(const ComponentsState&, Stream) { refuse(); }
void components_start_with(const ComponentsState&, const std::uint64_t*, Stream) { refuse(); }
void components_sample(const ComponentsState&, const EdgePass&, std::uint32_t, unsigned, Stream) {
  refuse();
}
void components_flatten(const ComponentsState&, Stream) { refuse(); }
Vertex components_most_frequent(const ComponentsState&, Stream) { refuse(); }
void components_mark_outside(const ComponentsState&, Vertex, Stream) { refuse(); }
void components_clear_bits(const ComponentsState&, Stream) { refuse(); }
void components_link(const ComponentsState&, const WorkItems&, const ItemPass&, Stream) {
  refuse();
}
void components_join(const ComponentsState&, const Vertex*, Stream) { refuse(); }
void components_send(const ComponentsState&, const WorkItems&, const ItemPass&, Stream) {
  refuse();
}

void sssp_start(const SsspState&, Vertex, Stream) { refuse(); }
void sssp_choose(const SsspState&, std::uint32_t, Stream) { refuse(); }
std::uint32_t sssp_nearest(const SsspState&, Stream) { refuse(); }
void sssp_relax(const SsspState&, const WorkItems&, const ItemPass&, Stream) { refuse(); }

void kcore_start(const KcoreState&, Stream) { refuse(); }
std::uint32_t kcore_least(const KcoreState&, Stream) { refuse(); }
void kcore_mark(const KcoreState&, std::uint32_t, Stream) { refuse(); }
void kcore_peel(const KcoreState&, std::uint32_t, std::uint64_t, Stream) { refuse(); }
void kcore_drop(const KcoreState&, std::uint32_t, const WorkItems&, const ItemPass&, Stream) {
  refuse();
}
void centrality_clear(const CentralityState&, Stream) { refuse(); }
void centrality_clear_bits(const CentralityState&, Stream) { refuse(); }
void centrality_start(const CentralityState&, Vertex, Stream) { refuse(); }
void centrality_forward(const CentralityState&, std::uint32_t, const WorkItems&, const ItemPass&,
                        Stream) {
  refuse();
}
void centrality_backward(const CentralityState&, std::uint32_t, const WorkItems&, const ItemPass&,
                         Stream) {
  refuse();
}
void centrality_add(const CentralityState&, Vertex, Stream) { refuse(); }
void count_triangles(const TrianglesState&, const EdgeSpan&, const VertexSpan&, Stream) {
  refuse();
}

void* allocate(Bytes, Stream) { refuse(); }
void free(void*, Stream) noexcept {}  // of nothing that allocate gave
void copy(void*, const void*, Bytes, Stream) { refuse(); }

GeneratedGraph generate_graph(const RandomGraph&, Stream) { refuse(); }

void gather(const TableView&, const LookupIn&, const RowsOut&, Stream) { refuse(); }
void locate(const TableView&, const LookupIn&, std::uint32_t*, const ColdList&, Stream) {
  refuse();
}
void gather_hot(const TableView&, const std::uint32_t*, std::uint64_t, const RowsOut&, Stream) {
  refuse();
}
Bytes sort_list_bytes(std::uint32_t) { refuse(); }
void sort_list(const ColdList&, const ColdList&, std::uint32_t, void*, Stream) { refuse(); }
void gather_cold(const TableView&, const ColdList&, std::uint32_t, std::uint32_t, const RowsOut&,
                 std::uint32_t, Stream) {
  refuse();
}
void gather_staged(const TableView&, const ColdList&, std::byte*, std::uint32_t, std::uint32_t,
                   const RowsOut&, Stream) {
  refuse();
}
void find(const TableView&, const std::uint64_t*, std::uint64_t, const ColdList&, std::uint64_t*,
          Stream) {
  refuse();
}
void write_rows(const TableView&, const ColdList&, const RowsIn&, Stream) { refuse(); }
void insert(const TableView&, const std::uint64_t*, std::uint64_t, const FreePlaces&, Stream) {
  refuse();
}
void assign(const TableView&, const std::uint64_t*, const std::uint32_t*, std::uint64_t, Stream) {
  refuse();
}
void erase(const TableView&, const std::uint64_t*, std::uint64_t, const FreePlaces&, Stream) {
  refuse();
}
void copy_rows(const TableView&, const Move*, std::uint32_t, Stream) { refuse(); }
void cross_rows(const TableView&, std::uint32_t, std::uint32_t, bool, Stream) { refuse(); }
void flip_entries(const TableView&, const Move*, std::uint32_t, std::uint32_t*, Stream) {
  refuse();
}
void count_entries(const TableView&, const std::uint32_t*, const Histograms&, Stream) { refuse(); }
void choose_moves(const TableView&, const std::uint32_t*, const Choice&, Stream) { refuse(); }
void halve_counts(std::uint32_t*, std::uint64_t, std::uint32_t, Stream) { refuse(); }
void pool(const TableView&, const Bags&, const Staged&, LookupCounts*, const RowsOut&, Stream) {
  refuse();
}
void pool_many(const PooledTable*, std::uint64_t, const Bags&, LookupCounts*, const RowsOut&,
               Stream) {
  refuse();
}
void stage_rows(const TableView&, const ColdList&, std::uint32_t*, std::byte*, std::uint32_t,
                Stream) {
  refuse();
}

}  // namespace holdall::kernels::gpu
