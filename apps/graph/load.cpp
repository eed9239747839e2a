#include "apps/graph/load.hpp"

#include <fmt/format.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

#include "apps/graph/compact.hpp"
#include "apps/graph/error.hpp"
#include "apps/graph/pieces.hpp"
#include "apps/graph/readers.hpp"
#include "apps/graph/sort.hpp"

namespace holdall::graph {

namespace {

// The edges of a graph in memory; of an undirected one each pair once, to be symmetrized again.
class CsrEdges final : public EdgeSource {
 public:
  explicit CsrEdges(const Csr& csr) : csr_(csr) {}
  std::uint64_t vertices() const override { return csr_.vertices(); }
  std::uint64_t blocks() const override { return (csr_.edges() + block - 1) / block; }
  std::span<const Edge> read(std::uint64_t index, std::vector<Edge>& scratch) const override {
    const std::uint64_t first = index * block, last = std::min(first + block, csr_.edges());
    const auto& offsets = csr_.out.offsets;
    auto v = static_cast<std::uint64_t>(std::upper_bound(offsets.begin(), offsets.end(), first) -
                                        offsets.begin()) -
             1;
    scratch.clear();
    for (std::uint64_t e = first; e < last; ++e) {
      while (offsets[v + 1] <= e) ++v;
      const Edge edge{static_cast<Vertex>(v), csr_.out.neighbours[e]};
      if (csr_.directed || edge.from <= edge.to) scratch.push_back(edge);
    }
    return scratch;
  }

 private:
  static constexpr std::uint64_t block = 1 << 16;
  const Csr& csr_;
};

// `problem` says what is wrong with the value that it names, first of its braces, if that is not
// below `below`, the second.
Array<std::uint32_t> load_values(
    const File& file, const FileArray& array, std::uint64_t below,
    fmt::string_view problem = "the neighbour {} is outside the {} vertices") {
  auto ids = Array<Vertex>::uninitialized(array.count);
  file.read_array(array, ids.data());
  std::atomic<std::uint64_t> bad = std::numeric_limits<std::uint64_t>::max();
  for_each_piece(array.bytes(), [&](Bytes first, Bytes bytes) {
    const Vertex* const begin = ids.data() + first / sizeof(Vertex);
    const Vertex* const end = begin + bytes / sizeof(Vertex);
    const Vertex* const found = std::find_if(begin, end, [&](Vertex id) { return id >= below; });
    if (found == end) return;
    const auto at = static_cast<std::uint64_t>(found - ids.data());
    for (std::uint64_t known = bad; at < known;)
      if (bad.compare_exchange_weak(known, at)) break;
  });
  if (bad < array.count)
    throw GraphError(file.path(), Byte{array.offset + bad * sizeof(Vertex)},
                     fmt::format(fmt::runtime(problem), ids[bad], below),
                     "the file is damaged; get it again");
  return ids;
}

// Lists with weights are not sorted here, so they must be already.
void check_order(const GraphFile& graph, const FileAdjacency& file, const Adjacency& adjacency) {
  for (std::uint64_t v = 0; v < graph.vertices; ++v) {
    const auto list = adjacency.of(v);
    const auto bad = std::ranges::is_sorted_until(list);
    if (bad == list.end()) continue;
    const auto edge = adjacency.offsets[v] + static_cast<std::uint64_t>(bad - list.begin());
    throw GraphError(graph.path, Byte{file.neighbours.offset + edge * sizeof(Vertex)},
                     fmt::format("the neighbours of {} do not ascend", v),
                     "the file is damaged; get it again");
  }
}

Csr load_in_place(const File& file, const GraphFile& graph, const LoadOptions& options) {
  const Bytes memory = options.memory != 0 ? options.memory : available_memory();
  const Bytes arrays =
      (graph.out.offsets.bytes() + graph.out.neighbours.bytes() + graph.out.weights.bytes()) *
          (graph.directed ? 2 : 1) +
      graph.original_ids.bytes();
  if (arrays > memory)
    throw GraphError(graph.path, {},
                     fmt::format("needs {} in memory, and {} are there", holdall::to_string(arrays),
                                 holdall::to_string(memory)),
                     "allow more memory, or page it from the file");
  const auto load = [&](const FileAdjacency& adjacency) {
    Adjacency result{load_offsets(graph, adjacency),
                     load_values(file, adjacency.neighbours, graph.vertices),
                     {}};
    if (graph.weights == Weights::none) {
      sort_lists(result);
      return result;
    }
    check_order(graph, adjacency, result);
    result.weights = load_values(file, adjacency.weights, weights_below(graph.weights),
                                 "the bits {:#x} are no weight; expected less than {:#x}");
    return result;
  };
  Csr csr;
  csr.directed = graph.directed;
  csr.weights = graph.weights;
  csr.out = load(graph.out);
  if (csr.directed) csr.transposed = load(graph.in);
  if (graph.original_ids.count > 0)
    csr.original_ids = load_values(file, graph.original_ids, most_vertices);
  file.check_unchanged();
  return csr;
}

}  // namespace

Csr build_loaded(const EdgeSource& source, const LoadOptions& options, bool undirected) {
  const BuildOptions build{.symmetrize = options.symmetrize || undirected,
                           .deduplicate = options.deduplicate,
                           .remove_self_loops = options.remove_self_loops,
                           .memory = options.memory,
                           .progress = options.progress};
  if (!options.compact) return build_csr(source, build);
  const CompactEdges compact(source, options.memory != 0 ? options.memory : available_memory());
  Csr csr = build_csr(compact, build);
  csr.original_ids = compact.original_ids();
  return csr;
}

Csr load_graph(const std::filesystem::path& path, const LoadOptions& options, LoadReport* report) {
  LoadReport unasked;
  LoadReport& told = report != nullptr ? *report : unasked;
  told = {};
  const GraphFile graph = open_graph(path);
  const File file(path);
  if (graph.format == Format::text) return load_text(file, options, told);
  if (graph.format == Format::matrix_market) return load_matrix_market(file, options, told);

  Csr csr = load_in_place(file, graph, options);
  told.edges_read = csr.edges();
  const bool as_it_is = !(options.symmetrize && csr.directed) && !options.deduplicate &&
                        !options.remove_self_loops && !options.compact;
  if (as_it_is) return csr;
  if (csr.weights != Weights::none)
    throw GraphError(path, {}, "has weights, which cannot be kept when the graph is changed",
                     "change it where it is made, or take it as it is");
  Csr rebuilt = build_loaded(CsrEdges(csr), options, !csr.directed);
  if (!csr.original_ids.empty()) {
    if (rebuilt.original_ids.empty())
      rebuilt.original_ids = std::move(csr.original_ids);
    else
      for (Vertex& id : rebuilt.original_ids) id = csr.original_ids[id];
  }
  return rebuilt;
}

}  // namespace holdall::graph
