#include "apps/graph/build.hpp"

#include <fmt/format.h>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstring>
#include <string>

#include "apps/graph/error.hpp"
#include "apps/graph/scan.hpp"
#include "apps/graph/sort.hpp"

namespace holdall::graph {

namespace {

using Range = tbb::blocked_range<std::uint64_t>;

// Calls `visit(from, to, weight)` for every entry that the edges of `source` make. Entries go
// anywhere in memory and each is an atomic step that others wait behind, so `far(v)` and then
// `near(v)` are called some edges ahead for each vertex that will have one, to bring cache lines
// in.
template <typename Far, typename Near, typename Visit>
void for_each_entry(const EdgeSource& source, const BuildOptions& options, Far far, Near near,
                    Visit visit) {
  constexpr std::size_t far_ahead = 48, near_ahead = 24;
  tbb::enumerable_thread_specific<EdgeScratch> scratch;
  const auto each_end = [&](const Edge& edge, const auto& call) {
    call(edge.from);
    if (options.symmetrize) call(edge.to);
  };
  tbb::parallel_for(Range(0, source.blocks(), 1), [&](const Range& range) {
    for (std::uint64_t block = range.begin(); block < range.end(); ++block) {
      const auto [edges, weights] = source.read(block, scratch.local());
      for (std::size_t i = 0; i < edges.size(); ++i) {
        if (i + far_ahead < edges.size()) each_end(edges[i + far_ahead], far);
        if (i + near_ahead < edges.size()) each_end(edges[i + near_ahead], near);
        const auto [from, to] = edges[i];
        const std::uint32_t weight = weights.empty() ? 0 : weights[i];
        if (from == to) {
          if (!options.remove_self_loops) visit(from, to, weight);
          continue;
        }
        visit(from, to, weight);
        if (options.symmetrize) visit(to, from, weight);
      }
    }
  });
}

// Tells of every block read; the source is read twice in all.
class Watched final : public EdgeSource {
 public:
  Watched(const EdgeSource& source, const Progress& progress)
      : source_(source), progress_(progress) {}
  std::uint64_t vertices() const override { return source_.vertices(); }
  std::uint64_t blocks() const override { return source_.blocks(); }
  Weights weights() const override { return source_.weights(); }
  EdgeBlock read(std::uint64_t block, EdgeScratch& scratch) const override {
    if (progress_) progress_(done_.fetch_add(1), 2 * source_.blocks());
    return source_.read(block, scratch);
  }

 private:
  const EdgeSource& source_;
  const Progress& progress_;
  mutable std::atomic<std::uint64_t> done_ = 0;
};

void prefetch(const void* line) { __builtin_prefetch(line, 1); }

void check_memory(Bytes needed, Bytes memory, const std::string& what) {
  if (needed <= memory) return;
  throw GraphError(
      fmt::format("{} needs {} of memory, and {} may be used; allow more, or number the vertices "
                  "without gaps (compact) if ids are sparse",
                  what, holdall::to_string(needed), holdall::to_string(memory)));
}

// Drops equal neighbours that stand side by side, but the first, and closes the gaps.
void deduplicate(Adjacency& adjacency) {
  const std::uint64_t vertices = adjacency.offsets.size() - 1;
  auto offsets = Array<std::uint64_t>::uninitialized(vertices + 1);
  Vertex* const neighbours = adjacency.neighbours.data();
  std::uint32_t* const weights = adjacency.weights.empty() ? nullptr : adjacency.weights.data();

  // 1. within each list
  tbb::parallel_for(Range(0, vertices, 256), [&](const Range& range) {
    for (std::uint64_t v = range.begin(); v < range.end(); ++v) {
      const std::uint64_t begin = adjacency.offsets[v], end = adjacency.offsets[v + 1];
      std::uint64_t kept = begin;
      for (std::uint64_t e = begin; e < end; ++e) {
        if (e > begin && neighbours[e] == neighbours[kept - 1]) continue;
        neighbours[kept] = neighbours[e];
        if (weights != nullptr) weights[kept] = weights[e];
        ++kept;
      }
      offsets[v] = kept - begin;
    }
  });
  offsets[vertices] = 0;
  const std::uint64_t kept = exclusive_scan({offsets.data(), offsets.size()});

  // 2. lists move left, over what is already free
  const auto close = [&](auto* values) {
    for (std::uint64_t v = 0; v < vertices; ++v)
      std::memmove(values + offsets[v], values + adjacency.offsets[v],
                   (offsets[v + 1] - offsets[v]) * sizeof(*values));
  };
  close(neighbours);
  if (weights != nullptr) close(weights);
  adjacency.neighbours.shrink(kept);
  adjacency.weights.shrink(kept);
  adjacency.offsets = std::move(offsets);
}

}  // namespace

Csr build_csr(const EdgeSource& edge_source, const BuildOptions& options) {
  const Watched source(edge_source, options.progress);
  const std::uint64_t vertices = source.vertices();
  const Bytes memory = options.memory != 0 ? options.memory : available_memory();
  const Bytes offset_bytes = (vertices + 1) * sizeof(std::uint64_t);
  if (vertices == 0) throw GraphError("a graph of no vertices: there is nothing to build");
  assert(vertices <= most_vertices);
  check_memory(2 * offset_bytes, memory, fmt::format("a graph of {} vertices", vertices));

  Csr csr;
  csr.directed = !options.symmetrize;
  csr.weights = source.weights();
  const bool weighted = csr.weights != Weights::none;

  // 1. count, each vertex one place to the right
  Array<std::uint64_t>& offsets = csr.out.offsets;
  offsets = Array<std::uint64_t>::zeros(vertices + 1);
  const auto count_of = [&](Vertex v) {
    return std::atomic_ref(offsets.data()[v + std::uint64_t{1}]);
  };
  const auto prefetch_count = [&](Vertex v) { prefetch(&offsets[v + std::uint64_t{1}]); };
  for_each_entry(
      source, options, prefetch_count, [](Vertex) {},
      [&](Vertex from, Vertex, std::uint32_t) {
        count_of(from).fetch_add(1, std::memory_order_relaxed);
      });

  // 2. offsets[v + 1] is where v's list starts
  const std::uint64_t edges = exclusive_scan({offsets.data() + 1, vertices});
  const Bytes entry_bytes = sizeof(Vertex) + (weighted ? sizeof(std::uint32_t) : 0);
  const Bytes edge_bytes = edges * entry_bytes * (csr.directed ? 2 : 1);
  check_memory(2 * offset_bytes + edge_bytes, memory,
               fmt::format("a graph of {} vertices and {} edges", vertices, edges));

  // 3. place; offsets[v + 1] ends where the list of v + 1 starts
  csr.out.neighbours = Array<Vertex>::uninitialized(edges);
  csr.out.weights = Array<std::uint32_t>::uninitialized(weighted ? edges : 0);
  const auto prefetch_place = [&](Vertex v) {
    prefetch(csr.out.neighbours.data() + count_of(v).load(std::memory_order_relaxed));
  };
  for_each_entry(source, options, prefetch_count, prefetch_place,
                 [&](Vertex from, Vertex to, std::uint32_t weight) {
                   const std::uint64_t at = count_of(from).fetch_add(1, std::memory_order_relaxed);
                   if (at >= edges)
                     throw GraphError("the edges changed while they were read; try again");
                   csr.out.neighbours[at] = to;
                   if (weighted) csr.out.weights[at] = weight;
                 });

  // 4. the order of placing was up to the threads
  sort_lists(csr.out);
  if (options.deduplicate) deduplicate(csr.out);
  if (csr.directed) csr.transposed = transpose(csr.out);
  return csr;
}

}  // namespace holdall::graph
