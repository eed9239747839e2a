// How much faster are graph algorithms on several devices than on one, with the same share of the
// edges in memory? One device has half of them in its own; N devices have as much between them, and
// bring the other half in over as many links.
//
//   bench-split [--graph urand:27:15] [--devices 2] [--share 0.5] [--benchmark_filter=pagerank] ...
//
// On GPUs, or on the host driver where there is none.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "apps/graph/bfs.hpp"
#include "apps/graph/components.hpp"
#include "apps/graph/generate.hpp"
#include "apps/graph/pagerank.hpp"
#include "apps/graph/split.hpp"
#include "apps/graph/sssp.hpp"
#include "apps/graph/weights.hpp"
#include "kernels/generate_graph.hpp"

namespace holdall::graph {
namespace {

constexpr int runs = 5;

struct Subject {
  Csr csr;
  Vertex source = 0;                 // of the greatest degree
  std::map<std::string, double> ms;  // of one device, by job
};

// Made on a device, where it is fast.
void draw(Subject& subject, const Generator& generator) {
  Engine engine;
  const Stream stream = engine.stream();
  const kernels::GeneratedGraph graph = kernels::generate_graph(
      {generator.kind == Generator::Kind::kron ? kernels::RandomGraph::Kind::kron
                                               : kernels::RandomGraph::Kind::urand,
       generator.scale, generator.edge_factor, generator.seed},
      stream);
  Csr& csr = subject.csr;
  csr.out.offsets = Array<std::uint64_t>::uninitialized(graph.vertices + 1);
  csr.out.neighbours = Array<Vertex>::uninitialized(graph.edges);
  kernels::copy(csr.out.offsets.data(), graph.offsets.data(), csr.out.offsets.size() * 8, stream);
  kernels::copy(csr.out.neighbours.data(), graph.neighbours.data(), graph.edges * 4, stream);
  for (std::uint64_t v = 1; v < graph.vertices; ++v)
    if (csr.out.degree(v) > csr.out.degree(subject.source)) subject.source = static_cast<Vertex>(v);
}

// Makes the state of an algorithm on a part, says so, then runs it several times.
using Job = std::function<void(const PagedGraph& part, const Subject& subject,
                               const std::function<void()>& ready,
                               const std::function<void(double ms)>& took)>;

template <class Algorithm>
Job job(std::function<double(Algorithm&, const Subject&)> seconds) {
  return [seconds](const PagedGraph& part, const Subject& subject, const auto& ready,
                   const auto& took) {
    Algorithm algorithm(part);
    ready();
    for (int i = 0; i <= runs; ++i) took(seconds(algorithm, subject) * 1e3);
  };
}

struct Measured {
  std::vector<double> ms;
  double bytes_in = 0;  // of the last run
  Bytes state = 0;      // vertex data of the device that has most
};

Measured measure(const Config& config, const Subject& subject, bool weighted, const Job& job,
                 bool state_alone) {
  struct Enough {};
  Engine engine(config);
  Measured measured;
  Traffic before;
  std::mutex lock;
  try {
    run_on_devices(engine, subject.csr, {.in = false, .weights = weighted},
                   [&](const PagedGraph& part) {
                     const auto ready = [&] {
                       const std::scoped_lock hold(lock);
                       measured.state = std::max(measured.state, engine.leased(part.device()));
                       if (state_alone) throw Enough();
                     };
                     job(part, subject, ready, [&](double ms) {
                       if (part.exchange().part() > 0) return;
                       const Traffic now = engine.stats();
                       measured.ms.push_back(ms);
                       measured.bytes_in = static_cast<double>((now - before).bytes_in);
                       before = now;
                     });
                   });
  } catch (const Enough&) {
  }
  return measured;
}

void row(benchmark::State& state, Subject& subject, const std::string& name, const Job& job,
         int devices, double share) {
  const bool weighted = name == "sssp";
  if (weighted && subject.csr.weights == Weights::none) add_weights(subject.csr);
  const Bytes edge_bytes = subject.csr.edges() * sizeof(Vertex) * (weighted ? 2 : 1);
  Config config;
  config.devices = devices;
  config.host_memory = edge_bytes + (Bytes{8} << 30);
  const Measured all = measure(config, subject, weighted, job, true);
  config.memory = all.state +
                  round_up(static_cast<Bytes>(share * static_cast<double>(edge_bytes) / devices),
                           config.chunk) +
                  2 * config.chunk;
  Measured measured;
  for (auto _ : state) measured = measure(config, subject, weighted, job, false);
  std::vector<double> warm(measured.ms.begin() + 1, measured.ms.end());
  std::ranges::sort(warm);
  const double ms = warm[warm.size() / 2];
  state.counters["cold_ms"] = measured.ms[0];
  state.counters["warm_ms"] = ms;
  state.counters["moved_GB"] = measured.bytes_in / 1e9;
  if (devices == 1)
    subject.ms[name] = ms;
  else if (subject.ms.contains(name))
    state.counters["times_one"] = subject.ms[name] / ms;
}

int run(int argc, char** argv) {
  std::string graph = vmm::cuda_available() ? "urand:27:15" : "urand:18";
  int devices = 2;
  double share = 0.5;
  std::vector<char*> rest;
  for (int i = 0; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--graph" && i + 1 < argc)
      graph = argv[++i];
    else if (word == "--devices" && i + 1 < argc)
      devices = std::stoi(argv[++i]);
    else if (word == "--share" && i + 1 < argc)
      share = std::stod(argv[++i]);
    else
      rest.push_back(argv[i]);
  }
  int count = static_cast<int>(rest.size());
  benchmark::Initialize(&count, rest.data());
  if (benchmark::ReportUnrecognizedArguments(count, rest.data())) return 2;
  const Generator generator = parse_generator(graph);
  Subject subject;
  const auto search = [](Direction direction) {
    return job<Bfs>([direction](Bfs& bfs, const Subject& s) {
      return bfs.run(s.source, {.direction = direction, .schedule = {}}, {}).seconds;
    });
  };
  const std::vector<std::pair<std::string, Job>> jobs = {
      {"pagerank", job<PageRankRun>([](PageRankRun& pagerank, const Subject&) {
         constexpr int iterations = 4;
         return pagerank.run({.iterations = iterations, .tolerance = 0}).seconds / iterations;
       })},
      {"bfs_top_down", search(Direction::top_down)},
      {"bfs_optimizing", search(Direction::optimizing)},
      {"components", job<Components>([](Components& components, const Subject&) {
         return components.run().totals.seconds;
       })},
      {"sssp",
       job<Sssp>([](Sssp& sssp, const Subject& s) { return sssp.run(s.source).totals.seconds; })}};
  for (const auto& [name, its] : jobs)
    for (const int n : {1, devices})
      benchmark::RegisterBenchmark(fmt::format("{}/{}_devices/{}", name, n, graph).c_str(),
                                   [&, name = name, its = its, n](benchmark::State& state) {
                                     if (subject.csr.vertices() == 0) draw(subject, generator);
                                     row(state, subject, name, its, n, share);
                                   })
          ->Unit(benchmark::kMillisecond)
          ->Iterations(1)
          ->UseRealTime();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace
}  // namespace holdall::graph

int main(int argc, char** argv) {
  try {
    return holdall::graph::run(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "bench-split: {}\n", e.what());
    return 1;
  }
}
