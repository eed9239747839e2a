#include "apps/graph/load.hpp"

#include <fmt/format.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "apps/graph/binary_edges.hpp"
#include "apps/graph/compact.hpp"
#include "apps/graph/error.hpp"
#include "apps/graph/external.hpp"
#include "apps/graph/foreign.hpp"
#include "apps/graph/pieces.hpp"
#include "apps/graph/readers.hpp"
#include "apps/graph/relabel.hpp"
#include "apps/graph/sort.hpp"

namespace holdall::graph {

namespace {

// Values of 4 or 8 bytes, whatever T is. `problem` says what is wrong with the value that it names,
// first of its braces, if that is not below `below`, the second; which is no more than T holds.
template <typename T>
Array<T> load_values(const File& file, const FileArray& array, std::uint64_t below,
                     fmt::string_view problem = "the neighbour {} is outside the {} vertices") {
  auto values = Array<T>::uninitialized(array.count);
  struct Bad {
    std::uint64_t at = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t value = 0;
  } bad;
  std::mutex bad_lock;
  const auto check = [&](std::uint64_t at, std::uint64_t value) {
    const std::scoped_lock hold(bad_lock);
    if (at < bad.at) bad = {at, value};
  };
  const auto load_piece = [&]<typename Stored>(Bytes first, Bytes bytes, Stored* stored) {
    file.read(array.offset + first, stored, bytes);
    const std::uint64_t begin = first / sizeof(Stored), count = bytes / sizeof(Stored);
    for (std::uint64_t i = 0; i < count; ++i) {
      if (stored[i] >= below) return check(begin + i, stored[i]);
      if constexpr (!std::is_same_v<Stored, T>) values[begin + i] = static_cast<T>(stored[i]);
    }
  };
  for_each_piece(array.bytes(), [&](Bytes first, Bytes bytes) {
    if (array.element_bytes == sizeof(T))
      return load_piece(first, bytes, values.data() + first / sizeof(T));
    using Other = std::conditional_t<sizeof(T) == 4, std::uint64_t, std::uint32_t>;
    std::vector<Other> piece(bytes / sizeof(Other));
    load_piece(first, bytes, piece.data());
  });
  if (bad.at < array.count)
    throw GraphError(file.path(), Byte{array.offset + bad.at * array.element_bytes},
                     fmt::format(fmt::runtime(problem), bad.value, below),
                     "the file is damaged; get it again");
  return values;
}

Csr load_in_place(const File& file, const GraphFile& graph, const LoadOptions& options) {
  const Bytes memory = options.memory != 0 ? options.memory : available_memory();
  const bool weighted = graph.weights != Weights::none && !options.unweighted;
  const Bytes arrays = (graph.out.offsets.bytes() + graph.out.neighbours.bytes() +
                        (weighted ? graph.out.weights.bytes() : 0)) *
                           (graph.directed ? 2 : 1) +
                       graph.original_ids.bytes();
  if (arrays > memory)
    throw GraphError(graph.path, {},
                     fmt::format("needs {} in memory, and {} are there", holdall::to_string(arrays),
                                 holdall::to_string(memory)),
                     "allow more memory, or page it from the file");
  const auto load = [&](const FileAdjacency& adjacency) {
    Adjacency result{load_offsets(graph, adjacency),
                     load_values<Vertex>(file, adjacency.neighbours, graph.vertices),
                     {}};
    if (weighted)
      result.weights =
          load_values<std::uint32_t>(file, adjacency.weights, weights_below(graph.weights),
                                     "the bits {:#x} are no weight; expected less than {:#x}");
    sort_lists(result);
    return result;
  };
  Csr csr;
  csr.directed = graph.directed;
  if (weighted) csr.weights = graph.weights;
  csr.out = load(graph.out);
  if (csr.directed) csr.transposed = load(graph.in);
  if (graph.original_ids.count > 0)
    csr.original_ids = load_values<Vertex>(file, graph.original_ids, most_vertices);
  file.check_unchanged();
  return csr;
}

// A file of ours or an .sg, to be read as edges.
BinaryGraph binary_of(const std::shared_ptr<const File>& file, const GraphFile& graph) {
  const auto column = [&](const FileArray& array) {
    return BinaryColumn{file, array.offset, array.element_bytes, array.element_bytes};
  };
  BinaryGraph binary{.vertices = graph.vertices,
                     .edges = graph.edges,
                     .offsets = column(graph.out.offsets),
                     .neighbours = column(graph.out.neighbours),
                     .weight_kind = graph.weights,
                     .undirected = !graph.directed};
  if (graph.weights != Weights::none) binary.weights = column(graph.out.weights);
  return binary;
}

Csr load_binary(BinaryGraph graph, const LoadOptions& options, LoadReport& report,
                Array<Vertex> ids = {}) {
  const Bytes memory = options.memory != 0 ? options.memory : available_memory();
  const bool undirected = graph.undirected;
  const std::shared_ptr<const File> files[] = {graph.offsets.file, graph.neighbours.file,
                                               graph.weights ? graph.weights->file : nullptr};
  report.edges_read = graph.edges;
  const BinaryEdges edges(std::move(graph), !options.unweighted, memory);
  Csr csr = build_loaded(edges, options, undirected, std::move(ids));
  for (const auto& file : files)
    if (file) file->check_unchanged();
  return csr;
}

// `ids` as they were before the vertices that have them were numbered anew.
void trace_back(Array<Vertex>& ids, const Array<Vertex>& before) {
  if (!before.empty())
    for (Vertex& id : ids) id = before[id];
}

}  // namespace

Csr build_loaded(const EdgeSource& source, const LoadOptions& options, bool undirected,
                 Array<Vertex> ids_before) {
  const Bytes memory = options.memory != 0 ? options.memory : available_memory();
  const bool sorts = !options.sorted_to.empty();
  const BuildOptions build{.symmetrize = options.symmetrize || undirected,
                           .deduplicate = options.deduplicate,
                           .remove_self_loops = options.remove_self_loops,
                           // Sources keep up to a quarter beside what is sorted.
                           .memory = sorts ? memory - memory / 4 : options.memory,
                           .progress = options.progress};
  // `ids`: those that the vertices of `edges` had.
  const auto finish = [&](const EdgeSource& edges, Array<Vertex> ids) {
    if (sorts) {
      build_hold(edges, build, options.sorted_to, ids);
      return Csr();
    }
    Csr csr = build_csr(edges, build);
    csr.original_ids = std::move(ids);
    return csr;
  };
  const auto relabelled = [&](const EdgeSource& edges, Array<Vertex> ids) {
    if (options.relabel == LoadOptions::Relabel::none) return finish(edges, std::move(ids));
    DegreeEdges by_degree(edges, memory);
    Array<Vertex> order = by_degree.take_original_ids();
    trace_back(order, ids);
    return finish(by_degree, std::move(order));
  };
  if (!options.compact) return relabelled(source, std::move(ids_before));
  const CompactEdges compact(source, memory);
  Array<Vertex> ids = compact.original_ids();
  trace_back(ids, ids_before);
  return relabelled(compact, std::move(ids));
}

Csr load_graph(const std::filesystem::path& path, const LoadOptions& options, LoadReport* report) {
  LoadReport unasked;
  LoadReport& told = report != nullptr ? *report : unasked;
  told = {};
  const auto file = std::make_shared<const File>(file_of(path), File::Packed::unpacked);
  const GraphFile graph = describe(file);
  told.format = graph.format;
  switch (graph.format) {
    case Format::text:
      return load_text(*file, options, told);
    case Format::matrix_market:
      return load_matrix_market(*file, options, told);
    case Format::dimacs:
      return load_dimacs(*file, options, told);
    case Format::metis:
      return load_metis(*file, options, told);
    case Format::weighted_serialized:
      return load_binary(open_weighted_serialized(file).value(), options, told);
    case Format::galois:
      return load_binary(open_galois(file).value(), options, told);
    case Format::subway:
      return load_binary(open_subway(file).value(), options, told);
    case Format::emogi:
      return load_binary(open_emogi(file->path()).value(), options, told);
    case Format::packed:
      throw GraphError(path, {}, "is packed twice", "unpack it first");
    case Format::serialized:
    case Format::hold:
      break;
  }
  const bool as_it_is = !(options.symmetrize && graph.directed) && !options.deduplicate &&
                        !options.remove_self_loops && !options.compact &&
                        options.relabel == LoadOptions::Relabel::none && options.sorted_to.empty();
  if (as_it_is) {
    told.edges_read = graph.edges;
    return load_in_place(*file, graph, options);
  }
  Array<Vertex> ids;
  if (graph.original_ids.count > 0)
    ids = load_values<Vertex>(*file, graph.original_ids, most_vertices);
  return load_binary(binary_of(file, graph), options, told, std::move(ids));
}

}  // namespace holdall::graph
