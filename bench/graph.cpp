// What does paging add to graph algorithms? PageRank and BFS on the same graph: the bare kernels on
// plain device memory, the engine with everything resident, and the engine with room for a part of
// the edges.
//
//   bench-graph [--graph kron:27:15]... [--benchmark_filter=pagerank] ...
//
// Then the algorithms that schedule their levels: top-down and direction-optimizing BFS,
// components, shortest paths, each with everything resident, half, a quarter, half but paged only,
// and nothing but all read in place. With --steps, what each step of the last run took, to stderr.
// --paged-from and --blocks set ScheduleOptions other than the defaults.
//
// `floor` is the least time that a part could take: the greater of the resident time and the
// missing bytes over the link's raw rate. On the first GPU, or the host driver where there is none.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "apps/graph/bfs.hpp"
#include "apps/graph/components.hpp"
#include "apps/graph/generate.hpp"
#include "apps/graph/pagerank.hpp"
#include "apps/graph/sssp.hpp"
#include "apps/graph/weights.hpp"
#include "engine/vmm/host.hpp"
#include "kernels/generate_graph.hpp"

namespace holdall::graph {
namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point began) {
  return std::chrono::duration<double, std::milli>(Clock::now() - began).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

constexpr int sweeps = 5;

bool show_steps = false;  // --steps
ScheduleOptions mixed;    // --paged-from, --blocks

void show(const Step& step) {
  fmt::print(stderr,
             "step {:3} {:11} vertices {:12} edges{} {:8.2f} ms  {:7.1f} MB paged ({:5} faults, {} "
             "evictions)  {:7.1f} MB in place\n",
             step.number, step.vertices, step.edges, step.bottom_up ? " up" : "   ",
             step.seconds * 1e3, static_cast<double>(step.traffic.bytes_in) / 1e6,
             step.traffic.faults, step.traffic.evictions,
             static_cast<double>(step.bytes_in_place) / 1e6);
}

// One graph, in host memory; and what was measured of it, for the rows that compare.
struct Subject {
  std::string name;
  Csr csr;
  Vertex source = 0;  // of the greatest degree
  std::map<std::string, double> ms;
  double link = 0;                      // bytes a second, raw, into the device
  Bytes state = 0;                      // vertex data
  std::map<std::string, Bytes> states;  // of the scheduled jobs
};

Csr to_host(const kernels::GeneratedGraph& graph, Stream stream) {
  Csr csr;
  csr.out.offsets = Array<std::uint64_t>::uninitialized(graph.vertices + 1);
  csr.out.neighbours = Array<Vertex>::uninitialized(graph.edges);
  kernels::copy(csr.out.offsets.data(), graph.offsets.data(), csr.out.offsets.size() * 8, stream);
  kernels::copy(csr.out.neighbours.data(), graph.neighbours.data(), graph.edges * 4, stream);
  return csr;
}

// The kernels alone, on plain memory of the device, all edges in one pass.
void plain_pagerank(Subject& subject, const kernels::GeneratedGraph& graph, Stream stream) {
  const kernels::DeviceArray<float> scores(graph.vertices, stream),
      contributions(graph.vertices, stream), sums(graph.vertices, stream);
  const kernels::DeviceArray<std::byte> workspace(
      kernels::pagerank_workspace_bytes(graph.edges, 1, stream), stream);
  const kernels::DeviceArray<kernels::EdgeSpan> spans({{0, graph.edges}}, stream);
  const kernels::PagerankState ranks{
      graph.vertices, graph.offsets.data(), graph.offsets.data(), graph.neighbours.data(),
      scores.data(),  contributions.data(), sums.data(),          workspace.data(),
      0.85F};
  kernels::pagerank_start(ranks, stream);
  std::vector<double> ms;
  for (int i = 0; i < sweeps; ++i) {
    const auto began = Clock::now();
    kernels::pagerank_begin(ranks, stream);
    kernels::pagerank_pull(ranks, {spans.data(), 1, graph.edges}, stream);
    kernels::pagerank_finish(ranks, stream);
    benchmark::DoNotOptimize(kernels::pagerank_error(ranks, stream));
    ms.push_back(ms_since(began));
  }
  subject.ms["pagerank/plain"] = median(ms);
}

void plain_bfs(Subject& subject, const kernels::GeneratedGraph& graph, Stream stream) {
  using kernels::DeviceArray;
  const kernels::ChunkGrid grid{graph.edges, Bytes{8} << 20, 0};
  const std::uint64_t chunks = grid.chunks(), most = graph.vertices + chunks;
  const DeviceArray<Vertex> parents(graph.vertices, stream),
      frontier(graph.vertices, stream), item_vertices(most, stream);
  const DeviceArray<std::uint64_t> reached(kernels::bitmap_words(graph.vertices), stream),
      settled(kernels::bitmap_words(graph.vertices), stream), item_begins(most, stream),
      item_scan(most + 1, stream), chunk_items(chunks + 1, stream), chunk_edges(chunks, stream),
      chunk_bitmap(kernels::bitmap_words(chunks), stream);
  const DeviceArray<std::byte> workspace(
      kernels::visit_workspace_bytes(graph.vertices, graph.edges, 1, stream), stream),
      demand_workspace(kernels::demand_workspace_bytes(graph.vertices, chunks, stream), stream);
  DeviceArray<kernels::ItemRange> range(1, stream);
  const kernels::WorkItems items{most, item_vertices.data(), item_begins.data(), item_scan.data()};
  const kernels::BfsState search{graph.vertices,  graph.neighbours.data(), parents.data(),
                                 frontier.data(), reached.data(),          settled.data(),
                                 nullptr,         workspace.data()};
  std::vector<double> ms;
  for (int i = 0; i < sweeps; ++i) {
    const auto began = Clock::now();
    for (std::uint64_t count = kernels::bfs_start(search, subject.source, stream); count > 0;) {
      kernels::demand_of_frontier({frontier.data(), count}, graph.offsets.data(), grid, items,
                                  {chunk_items.data(), chunk_edges.data(), chunk_bitmap.data()},
                                  demand_workspace.data(), stream);
      std::uint64_t last[2] = {};
      kernels::copy(&last[0], chunk_items.data() + chunks, 8, stream);
      kernels::copy(&last[1], item_scan.data() + last[0], 8, stream);
      range.write(std::vector{kernels::ItemRange{0, last[0]}});
      kernels::bfs_expand(search, items, {range.data(), 1, last[1]}, stream);
      count = kernels::bfs_next_frontier(search, stream);
    }
    ms.push_back(ms_since(began));
  }
  subject.ms["bfs/plain"] = median(ms);
}

double raw_link(Engine& engine) {
  const Bytes bytes = vmm::cuda_available() ? Bytes{1} << 30 : Bytes{64} << 20;
  const auto host = engine.host_array<std::byte>(bytes, "raw copies");
  const Stream stream = engine.stream();
  const auto device = engine.reserve<std::byte>(bytes, {.name = "raw copies"});
  const Lease lease = engine.acquire(stream, {overwrite(device)});
  std::vector<double> ms;
  for (int i = 0; i < sweeps; ++i) {
    const auto began = Clock::now();
    for (Bytes at = 0; at < bytes; at += Bytes{2} << 20)
      vmm::check(engine.driver().copy(device.data() + at, host.data() + at, Bytes{2} << 20, stream),
                 "copy in");
    engine.synchronize(stream);
    ms.push_back(ms_since(began));
  }
  return static_cast<double>(bytes) / (*std::ranges::min_element(ms) / 1e3);
}

// Through the engine, with room for `share` of the edges, from cold: the first run and the median
// of the others.
void paged(benchmark::State& state, Subject& subject, const std::string& job, double share) {
  Config config;
  config.host_memory = subject.csr.out.bytes() * 2 + (Bytes{4} << 30);
  const Bytes edge_bytes = subject.csr.edges() * sizeof(Vertex);
  if (share < 1)
    config.memory =
        subject.state +
        round_up(static_cast<Bytes>(share * static_cast<double>(edge_bytes)), config.chunk);
  Engine engine(config);
  if (share == 1 && subject.link == 0) subject.link = raw_link(engine);
  const PagedGraph graph(engine, subject.csr, {});
  std::unique_ptr<Bfs> bfs;
  std::unique_ptr<PageRankRun> pagerank;
  // Both states are taken whatever the job, so that the rows differ in nothing else.
  bfs = std::make_unique<Bfs>(graph);
  pagerank = std::make_unique<PageRankRun>(graph);
  subject.state = engine.leased();
  std::vector<double> ms;
  Traffic moved;
  for (auto _ : state) {
    if (job == "bfs") {
      for (int i = 0; i <= sweeps; ++i) {
        const Traffic start = engine.stats();
        ms.push_back(
            bfs->run(subject.source, {.direction = Direction::top_down, .schedule = {}}, {})
                .seconds *
            1e3);
        moved = static_cast<Traffic>(engine.stats()) - start;
      }
    } else {
      pagerank->run({.damping = 0.85F, .iterations = sweeps + 1, .tolerance = 0},
                    [&](const Step& step) {
                      ms.push_back(step.seconds * 1e3);
                      moved = step.traffic;
                    });
    }
  }
  const double warm = median({ms.begin() + 1, ms.end()});
  const std::string row = job + (share == 1 ? "/resident" : "");
  if (share == 1) {
    subject.ms[row] = warm;
    state.counters["over_plain"] = warm / subject.ms[job + "/plain"];
  } else {
    const double floor = std::max(subject.ms[job + "/resident"],
                                  static_cast<double>(moved.bytes_in) / subject.link * 1e3);
    state.counters["floor_ms"] = floor;
    state.counters["over_floor"] = warm / floor;
  }
  state.counters["cold_ms"] = ms[0];
  state.counters["warm_ms"] = warm;
  state.counters["moved_GB"] = static_cast<double>(moved.bytes_in) / 1e9;
  state.counters["link_GB/s"] = subject.link / 1e9;
}

// The jobs that schedule their levels (apps/graph/level_schedule.hpp), each with its own state
// alone.
struct Job {
  std::string name;
  Direction direction = Direction::optimizing;
  ComponentsOptions::Method method = ComponentsOptions::Method::multistep;
};

// From cold, with room for `share` of the edges: the first run and the median of the others.
// `paged_from`: as in ScheduleOptions.
void scheduled(benchmark::State& state, Subject& subject, const Job& job, double share,
               double paged_from) {
  const bool weighted = job.name == "sssp";
  if (weighted && subject.csr.weights == Weights::none) add_weights(subject.csr);
  const ScheduleOptions schedule{.paged_from = paged_from, .blocks = mixed.blocks};
  const Bytes edge_bytes = subject.csr.edges() * sizeof(Vertex) * (weighted ? 2 : 1);
  Config config;
  config.host_memory = subject.csr.out.bytes() * 2 + (Bytes{4} << 30);
  Bytes vertex_data = 0;
  const auto run = [&](Engine& engine, int runs, auto&& each) {
    const PagedGraph graph(engine, subject.csr, {.weights = weighted});
    const auto measure = [&](auto algorithm, auto search) {
      vertex_data = engine.leased();
      for (int i = 0; i < runs; ++i) {
        const Traffic before = engine.stats();
        const bool last = i + 1 == runs;
        const auto [seconds, in_place, steps] =
            search(*algorithm, show_steps && last ? Watch(show) : Watch());
        each(seconds, static_cast<Traffic>(engine.stats()) - before, in_place, steps);
      }
    };
    using Found = std::tuple<double, Bytes, int>;
    if (weighted)
      measure(std::make_unique<Sssp>(graph), [&](Sssp& sssp, const Watch& watch) {
        const RunTotals did = sssp.run(subject.source, {.schedule = schedule}, watch).totals;
        return Found(did.seconds, did.bytes_in_place, did.steps);
      });
    else if (job.name == "components")
      measure(std::make_unique<Components>(graph), [&](Components& components, const Watch& watch) {
        const RunTotals did =
            components.run({.method = job.method, .schedule = schedule}, watch).totals;
        return Found(did.seconds, did.bytes_in_place, did.steps);
      });
    else
      measure(std::make_unique<Bfs>(graph), [&](Bfs& bfs, const Watch& watch) {
        const BfsResult did =
            bfs.run(subject.source, {.direction = job.direction, .schedule = schedule}, watch);
        return Found(did.seconds, did.bytes_in_place, did.levels);
      });
  };
  if (share < 1) {
    if (!subject.states.contains(job.name)) {  // how much vertex data there is
      Engine engine(config);
      run(engine, 0, [](double, const Traffic&, Bytes, int) {});
      subject.states[job.name] = vertex_data;
    }
    config.memory = subject.states[job.name] +
                    std::max(round_up(static_cast<Bytes>(share * static_cast<double>(edge_bytes)),
                                      config.chunk),
                             2 * config.chunk);
  }
  std::vector<double> ms;
  Traffic paged_in;
  Bytes in_place = 0;
  int steps = 0;
  for (auto _ : state) {
    Engine engine(config);
    run(engine, sweeps + 1, [&](double seconds, const Traffic& traffic, Bytes bytes, int count) {
      ms.push_back(seconds * 1e3);
      paged_in = traffic;
      in_place = bytes;
      steps = count;
    });
  }
  subject.states[job.name] = vertex_data;
  state.counters["cold_ms"] = ms[0];
  state.counters["warm_ms"] = median({ms.begin() + 1, ms.end()});
  state.counters["paged_GB"] = static_cast<double>(paged_in.bytes_in) / 1e9;
  state.counters["in_place_GB"] = static_cast<double>(in_place) / 1e9;
  state.counters["steps"] = steps;
}

void plain(benchmark::State& state, Subject& subject, const std::string& job) {
  for (auto _ : state) {
  }
  state.counters["warm_ms"] = subject.ms[job + "/plain"];
}

// The graph is made on the device, measured there bare, and taken to host memory.
void prepare(Subject& subject, const kernels::RandomGraph& random) {
  std::unique_ptr<vmm::Driver> driver;
  if (vmm::cuda_available())
    driver = vmm::make_cuda_driver();
  else
    driver = vmm::make_host_driver();
  Stream stream;
  vmm::check(driver->create_stream(stream, 0), "create a stream");
  {
    const kernels::GeneratedGraph graph = kernels::generate_graph(random, stream);
    subject.csr = to_host(graph, stream);
    for (std::uint64_t v = 1; v < graph.vertices; ++v)
      if (subject.csr.out.degree(v) > subject.csr.out.degree(subject.source))
        subject.source = static_cast<Vertex>(v);
    plain_pagerank(subject, graph, stream);
    plain_bfs(subject, graph, stream);
  }
  vmm::check(driver->destroy_stream(stream), "destroy a stream");
}

int run(int argc, char** argv) {
  std::vector<std::string> names;
  std::vector<char*> rest;
  for (int i = 0; i < argc; ++i)
    if (std::string_view(argv[i]) == "--graph" && i + 1 < argc)
      names.emplace_back(argv[++i]);
    else if (std::string_view(argv[i]) == "--steps")
      show_steps = true;
    else if (std::string_view(argv[i]) == "--paged-from" && i + 1 < argc)
      mixed.paged_from = std::stod(argv[++i]);
    else if (std::string_view(argv[i]) == "--blocks" && i + 1 < argc)
      mixed.blocks = static_cast<unsigned>(std::stoul(argv[++i]));
    else
      rest.push_back(argv[i]);
  int count = static_cast<int>(rest.size());
  benchmark::Initialize(&count, rest.data());
  if (benchmark::ReportUnrecognizedArguments(count, rest.data())) return 2;
  if (names.empty())
    names = vmm::cuda_available() ? std::vector<std::string>{"urand:27:15", "kron:27:15"}
                                  : std::vector<std::string>{"urand:18", "kron:18"};
  std::vector<std::unique_ptr<Subject>> subjects;
  for (const std::string& name : names) {
    const Generator generator = parse_generator(name);
    Subject* const subject = subjects.emplace_back(std::make_unique<Subject>()).get();
    subject->name = to_string(generator);
    const auto row = [&](const std::string& job, const std::string& how, auto function) {
      benchmark::RegisterBenchmark(
          (job + "/" + how + "/" + subject->name).c_str(),
          [=](benchmark::State& state) mutable {
            if (subject->csr.vertices() == 0)
              prepare(*subject,
                      {generator.kind == Generator::Kind::kron ? kernels::RandomGraph::Kind::kron
                                                               : kernels::RandomGraph::Kind::urand,
                       generator.scale, generator.edge_factor, generator.seed});
            function(state, *subject);
          })
          ->Unit(benchmark::kMillisecond)
          ->Iterations(1)
          ->UseRealTime();
    };
    for (const std::string job : {"pagerank", "bfs"}) {
      row(job, "plain", [job](benchmark::State& state, Subject& s) { plain(state, s, job); });
      row(job, "resident", [job](benchmark::State& state, Subject& s) { paged(state, s, job, 1); });
      for (const auto& [name, share] : {std::pair("three_quarters", 0.75), std::pair("half", 0.5),
                                        std::pair("quarter", 0.25), std::pair("eighth", 0.125)})
        row(job, name, [job, share = share](benchmark::State& state, Subject& s) {
          paged(state, s, job, share);
        });
    }
    const Job jobs[] = {
        {"bfs_top_down", Direction::top_down, {}},
        {"bfs_optimizing", Direction::optimizing, {}},
        {"components", {}, ComponentsOptions::Method::multistep},
        {"components_afforest", {}, ComponentsOptions::Method::afforest},
        {"components_label_propagation", {}, ComponentsOptions::Method::label_propagation},
        {"sssp", {}, {}}};
    constexpr double never = std::numeric_limits<double>::infinity();
    for (const Job& its : jobs) {
      // The same name chooses the algorithm.
      Job job = its;
      if (job.name.starts_with("components")) job.name = "components";
      for (const auto& [how, share, paged_from] :
           {std::tuple("resident", 1.0, mixed.paged_from),
            std::tuple("half", 0.5, mixed.paged_from), std::tuple("half_paged_only", 0.5, 0.0),
            std::tuple("quarter", 0.25, mixed.paged_from),
            std::tuple("nothing_in_place", 0.0, never)})
        row(its.name, how,
            [job, share = share, paged_from = paged_from](benchmark::State& state, Subject& s) {
              scheduled(state, s, job, share, paged_from);
            });
    }
    benchmark::RegisterBenchmark(("done/" + subject->name).c_str(), [=](benchmark::State& state) {
      for (auto _ : state) subject->csr = {};
    })->Iterations(1);
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace
}  // namespace holdall::graph

int main(int argc, char** argv) {
  try {
    return holdall::graph::run(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "bench-graph: {}\n", e.what());
    return 1;
  }
}
