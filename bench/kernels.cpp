// How fast are the steps alone, with the whole graph in plain memory of the device? On the first
// GPU, or the host driver where there is none.
//
//   bench-kernels [--graph kron:27:16]... [--benchmark_filter=pagerank] ...
//
// Without --graph: kron and urand of scale 27 on a GPU, 18 on the host. `edges/s` counts the
// entries of the lists that a run reads.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "engine/vmm/driver.hpp"
#include "engine/vmm/host.hpp"
#include "kernels/bfs.hpp"
#include "kernels/generate_graph.hpp"
#include "kernels/pagerank.hpp"

namespace holdall::kernels {
namespace {

RandomGraph parse_graph(std::string_view text) {
  RandomGraph graph;
  char kind[6] = {};
  unsigned long long factor = graph.edge_factor;
  if (std::sscanf(std::string(text).c_str(), "%5[a-z]:%u:%llu", kind, &graph.scale, &factor) < 2 ||
      (std::string_view(kind) != "kron" && std::string_view(kind) != "urand")) {
    throw std::invalid_argument(
        fmt::format("'{}' is no graph: write kron:SCALE[:EDGEFACTOR] or urand:...", text));
  }
  graph.kind = kind[0] == 'k' ? RandomGraph::Kind::kron : RandomGraph::Kind::urand;
  graph.edge_factor = factor;
  return graph;
}

std::string to_string(const RandomGraph& graph) {
  return fmt::format("{}:{}:{}", graph.kind == RandomGraph::Kind::kron ? "kron" : "urand",
                     graph.scale, graph.edge_factor);
}

// The graph of `random`, kept until another is asked for.
const GeneratedGraph& graph_of(const RandomGraph& random, Stream stream) {
  static std::string name;
  static std::optional<GeneratedGraph> graph;
  if (name != to_string(random)) {
    graph.reset();
    graph = generate_graph(random, stream);
    name = to_string(random);
  }
  return *graph;
}

void count_edges(benchmark::State& state, std::uint64_t edges) {
  state.counters["edges"] = static_cast<double>(edges);
  state.counters["edges/s"] =
      benchmark::Counter(static_cast<double>(edges), benchmark::Counter::kIsIterationInvariantRate);
}

// How long does one iteration take: begin, pull, finish, and the error read back?
void pagerank_iteration(benchmark::State& state, const RandomGraph& random, Stream stream) {
  const GeneratedGraph& graph = graph_of(random, stream);
  const DeviceArray<float> scores(graph.vertices, stream);
  const DeviceArray<float> contributions(graph.vertices, stream);
  const DeviceArray<float> sums(graph.vertices, stream);
  const DeviceArray<std::byte> workspace(pagerank_workspace_bytes(graph.edges, 1, stream), stream);
  const DeviceArray<EdgeSpan> spans({{0, graph.edges}}, stream);
  const PagerankState ranks{.vertices = graph.vertices,
                            .in_offsets = graph.offsets.data(),
                            .out_offsets = graph.offsets.data(),
                            .in_neighbours = graph.neighbours.data(),
                            .scores = scores.data(),
                            .contributions = contributions.data(),
                            .sums = sums.data(),
                            .workspace = workspace.data()};
  pagerank_start(ranks, stream);
  double error = 0;
  for (auto _ : state) {
    pagerank_begin(ranks, stream);
    pagerank_pull(ranks, {spans.data(), 1, graph.edges}, stream);
    pagerank_finish(ranks, stream);
    error = pagerank_error(ranks, stream);
  }
  state.counters["error"] = error;
  count_edges(state, graph.edges);
}

// How long does a search from the vertex of the most edges take, each level as one pass?
void bfs(benchmark::State& state, const RandomGraph& random, Stream stream) {
  const GeneratedGraph& graph = graph_of(random, stream);
  const ChunkGrid grid{graph.edges, 8_MiB, 0};
  const std::uint64_t chunks = grid.chunks();
  const std::uint64_t most = graph.vertices + chunks;
  const DeviceArray<Vertex> parents(graph.vertices, stream);
  const DeviceArray<Vertex> frontier(graph.vertices, stream);
  const DeviceArray<std::uint64_t> reached(bitmap_words(graph.vertices), stream);
  const DeviceArray<std::uint64_t> settled(bitmap_words(graph.vertices), stream);
  const DeviceArray<std::byte> workspace(
      visit_workspace_bytes(graph.vertices, graph.edges, 1, stream), stream);
  const DeviceArray<Vertex> item_vertices(most, stream);
  const DeviceArray<std::uint64_t> item_begins(most, stream);
  const DeviceArray<std::uint64_t> item_scan(most + 1, stream);
  const DeviceArray<std::uint64_t> chunk_items(chunks + 1, stream);
  const DeviceArray<std::uint64_t> chunk_edges(chunks, stream);
  const DeviceArray<std::uint64_t> chunk_bitmap(bitmap_words(chunks), stream);
  const DeviceArray<std::byte> demand_workspace(
      demand_workspace_bytes(graph.vertices, chunks, stream), stream);
  DeviceArray<ItemRange> range(1, stream);
  const WorkItems items{most, item_vertices.data(), item_begins.data(), item_scan.data()};
  const BfsState search{.vertices = graph.vertices,
                        .neighbours = graph.neighbours.data(),
                        .parents = parents.data(),
                        .frontier = frontier.data(),
                        .reached = reached.data(),
                        .settled = settled.data(),
                        .workspace = workspace.data()};

  const std::vector<std::uint64_t> offsets = graph.offsets.read();
  Vertex source = 0;
  for (Vertex v = 1; v < graph.vertices; ++v) {
    if (offsets[v + 1] - offsets[v] > offsets[source + 1] - offsets[source]) source = v;
  }

  std::uint64_t edges = 0;
  std::uint64_t found = 0;
  std::uint64_t levels = 0;
  for (auto _ : state) {
    edges = found = levels = 0;
    for (std::uint64_t count = bfs_start(search, source, stream); count > 0; ++levels) {
      found += count;
      demand_of_frontier({frontier.data(), count}, graph.offsets.data(), grid, items,
                         {chunk_items.data(), chunk_edges.data(), chunk_bitmap.data()},
                         demand_workspace.data(), stream);
      std::uint64_t items_count = 0;
      std::uint64_t edges_count = 0;
      copy(&items_count, chunk_items.data() + chunks, sizeof(items_count), stream);
      copy(&edges_count, item_scan.data() + items_count, sizeof(edges_count), stream);
      range.write(std::vector{ItemRange{0, items_count}});
      bfs_expand(search, items, {range.data(), 1, edges_count}, stream);
      edges += edges_count;
      count = bfs_next_frontier(search, stream);
    }
  }
  state.counters["vertices"] = static_cast<double>(found);
  state.counters["levels"] = static_cast<double>(levels);
  count_edges(state, edges);
}

int run(int argc, char** argv) {
  // 1. the graphs that the command line asks for
  std::vector<RandomGraph> graphs;
  std::vector<char*> rest;
  for (int i = 0; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--graph" && i + 1 < argc) {
      graphs.push_back(parse_graph(argv[++i]));
    } else {
      rest.push_back(argv[i]);
    }
  }
  int rest_count = static_cast<int>(rest.size());
  benchmark::Initialize(&rest_count, rest.data());
  if (benchmark::ReportUnrecognizedArguments(rest_count, rest.data())) return 2;

  // 2. a stream of the device
  const bool on_gpu = vmm::cuda_available();
  std::unique_ptr<vmm::Driver> driver;
  if (on_gpu) {
    driver = vmm::make_cuda_driver();
  } else {
    driver = vmm::make_host_driver();
  }
  Stream stream;
  vmm::check(driver->create_stream(stream, 0), "create a stream");
  benchmark::AddCustomContext("device", driver->info(0).name);
  if (graphs.empty()) {
    const char* scale = on_gpu ? "27" : "18";
    graphs = {parse_graph(fmt::format("kron:{}", scale)),
              parse_graph(fmt::format("urand:{}", scale))};
  }

  // 3. the rows
  for (const RandomGraph& graph : graphs) {
    const auto row = [&](const char* name, auto function) {
      benchmark::RegisterBenchmark(fmt::format("{}/{}", name, to_string(graph)).c_str(),
                                   [=](benchmark::State& state) { function(state, graph, stream); })
          ->UseRealTime()
          ->Unit(benchmark::kMillisecond);
    };
    row("pagerank_iteration", pagerank_iteration);
    row("bfs", bfs);
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace
}  // namespace holdall::kernels

int main(int argc, char** argv) {
  try {
    return holdall::kernels::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench-kernels: {}\n", error.what());
    return 1;
  }
}
