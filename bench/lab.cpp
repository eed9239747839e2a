// What the policy lab does in a second. One trace: 10 M requests, Zipf 1.0 over 1 M chunks, a
// memory of a tenth of them.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "apps/policy/cells.hpp"
#include "apps/policy/curve.hpp"
#include "apps/policy/synthesise.hpp"
#include "apps/policy/writer.hpp"
#include "policies/registry.hpp"

namespace {

using namespace holdall::lab;

constexpr std::uint64_t requests = 10'000'000, chunks = 1'000'000;

// The trace as a file, made once and gone at the end.
class File {
 public:
  File()
      : path_(std::filesystem::temp_directory_path() /
              ("holdall-bench-" + std::to_string(::getpid()))) {
    Writer writer(path_, "oracleGeneral");
    synthesise({.pattern = "zipf", .requests = requests, .chunks = chunks, .bytes = 1},
               [&](const holdall::TraceRecord& record) { writer.append(record); });
    writer.close();
  }
  ~File() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};
const std::string& path() {
  static const File file;
  static const std::string name = file.path();
  return name;
}
const Trace& trace() {
  static const Trace held = [] {
    Trace t = read_trace(path());
    find_next_uses(t);
    return t;
  }();
  return held;
}

void count(benchmark::State& state, std::uint64_t cells = 1) {
  state.SetItemsProcessed(
      static_cast<std::int64_t>(static_cast<std::uint64_t>(state.iterations()) * requests * cells));
}

// How fast is a trace read and numbered?
void read(benchmark::State& state) {
  (void)path();
  for (auto _ : state) {
    TraceStream stream(path());
    while (stream.next(std::size_t{1} << 15).size() > 0) {
    }
  }
  count(state);
}
BENCHMARK(read)->Name("lab/read")->Unit(benchmark::kMillisecond);

// And replayed as well, in one pass?
void whole(benchmark::State& state, const std::string& policy) {
  (void)path();
  for (auto _ : state) {
    TraceStream stream(path());
    benchmark::DoNotOptimize(run_cells(stream, {{policy, {.capacity = chunks / 10}}}));
  }
  count(state);
}

// What does an exact curve of all sizes cost, beside one replay?
void curve(benchmark::State& state) {
  (void)trace();
  for (auto _ : state) benchmark::DoNotOptimize(lru_curve(trace().requests(), trace().distinct()));
  count(state);
}
BENCHMARK(curve)->Name("lab/curve/lru")->Unit(benchmark::kMillisecond);

// What does OPT cost, looking ahead included?
void opt(benchmark::State& state) {
  Trace own = trace();
  for (auto _ : state) {
    find_next_uses(own);
    benchmark::DoNotOptimize(opt_misses(own.requests(), chunks / 10, false));
  }
  count(state);
}
BENCHMARK(opt)->Name("lab/bound/opt")->Unit(benchmark::kMillisecond);

// How many cell-requests a second does a sweep of 6 policies by 4 sizes make, on all cores?
void sweep(benchmark::State& state) {
  std::vector<Cell> cells;
  for (const char* const policy : {"lru", "fifo", "clock", "mru", "lfu", "random"})
    for (const std::uint64_t part : {100, 20, 10, 5})
      cells.push_back({policy, {.capacity = chunks / part}});
  (void)trace();
  for (auto _ : state) run_cells(trace(), cells, [](const Result&) {});
  count(state, cells.size());
}
BENCHMARK(sweep)
    ->Name("lab/sweep/24_cells")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(1);

const bool all = [] {
  for (const auto& info : holdall::list_policies())
    benchmark::RegisterBenchmark(("lab/whole/" + info.name).c_str(), whole, info.name)
        ->Unit(benchmark::kMillisecond);
  return true;
}();

}  // namespace

BENCHMARK_MAIN();
