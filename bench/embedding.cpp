// How many rows a second does a table serve whose hot part alone is in device memory, and how long
// does a small batch take?
//
//   bench-embedding                                    # the sizes of bench/README.md, on a GPU;
//                                                      # small ones on the host
//   bench-embedding --rows 67108864 --dim 32 --share 0.25 --batch 1048576 --alpha 0.8 --devices 2
//
// The baseline stands in the last column: one kernel through the same entries, which reads cold
// rows where they lie.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <string>
#include <vector>

#include "apps/embedding/trial.hpp"
#include "apps/embedding/version.hpp"
#include "engine/vmm/driver.hpp"

namespace {

using namespace holdall;
using namespace holdall::embedding;

void row(Engine& engine, const TrialOptions& options, double seconds, const std::string& name) {
  Trial trial(engine, options);
  const TrialResult result = trial.throughput(seconds);
  const TrialResult plain = trial.plain(seconds);
  const Bytes bytes = options.dim * 4ull;
  fmt::print(
      "{:<28} {:>9.1f} Mrows/s {:>8.1f} GB/s  hit rate {:.3f} (best {:.3f})  plain {:>9.1f}  wrong "
      "{}\n",
      name, result.rows_per_second / 1e6, result.rows_per_second * double(bytes) / 1e9,
      result.hit_rate, trial.ideal_hit_rate(), plain.rows_per_second / 1e6, trial.wrong());
  std::fflush(stdout);
}

Fetch fetch_named(std::string_view name) {
  return name == "direct"   ? Fetch::direct
         : name == "beside" ? Fetch::beside
         : name == "sorted" ? Fetch::sorted
         : name == "cpu"    ? Fetch::cpu
         : name == "both"   ? Fetch::both
                            : Fetch::measured;
}

void show_costs(Trial& trial) {
  const auto version = trial.table().version();
  for (const auto batch : {FetchCosts::Batch::small, FetchCosts::Batch::large})
    for (const char* const name : {"direct", "beside", "sorted", "cpu", "both"})
      for (const auto& [rows, seconds] : version->costs().curve(batch, fetch_named(name)))
        fmt::print("  {} {:<6} {:>7} cold rows {:>9.1f} us\n",
                   batch == FetchCosts::Batch::small ? "alone   " : "with hot", name, rows,
                   seconds * 1e6);
  fmt::print("  sorted: {} blocks, without the lowest {} bits; both: {} of {} parts by the CPU\n",
             version->costs().blocks, version->costs().low_bit, version->costs().cpu_parts,
             FetchCosts::parts);
}

int run(int argc, char** argv) {
  const bool gpu = vmm::cuda_available();
  TrialOptions options;
  options.rows = gpu ? 64 << 20 : 1 << 19;
  options.batch = gpu ? 1 << 20 : 1 << 16;
  std::vector<double> alphas;
  double seconds = 0.5;
  std::string only;
  std::string fetch = "measured";
  std::string cold_type;
  int devices = 1;
  CLI::App app{"embedding look-ups", "bench-embedding"};
  app.add_option("--rows", options.rows);
  app.add_option("--dim", options.dim);
  app.add_option("--share", options.share, "of the rows in the memory of each device");
  app.add_option("--devices", devices, "that each look up batches of their own; 0: all");
  app.add_option("--batch", options.batch);
  app.add_option("--alpha", alphas, "of Zipf, 0: uniform");
  app.add_option("--seconds", seconds, "a row");
  app.add_option("--only", only, "throughput, hbm, latency or learning");
  app.add_option("--fetch", fetch, "measured, direct, beside, sorted, cpu or both");
  app.add_option("--cold-type", cold_type, "of the rows in host memory: fp16 or int8");
  CLI11_PARSE(app, argc, argv);
  if (alphas.empty()) alphas = {0.8, 1.05, 1.2, 0};
  options.fetch = fetch_named(fetch);
  if (!cold_type.empty()) options.cold_type = cold_type == "int8" ? RowType::int8 : RowType::fp16;
  const auto wanted = [&](const char* part) { return only.empty() || only == part; };
  Config config;
  config.devices = devices;
  if (!gpu) config.memory = Bytes{1} << 30;
  Engine engine(config);
  fmt::print("{} x {}: {} rows of {} fp32, {:.0f} % in the memory of each, batches of {}\n",
             engine.devices(), engine.driver().info(0).name, options.rows, options.dim,
             options.share * 100, options.batch);

  // How many rows a second, at each skew?
  if (wanted("throughput"))
    for (const double alpha : alphas) {
      options.alpha = alpha;
      row(engine, options, seconds, fmt::format("throughput/{:.2f}", alpha));
    }
  // What do the entries' counters cost where everything is in device memory?
  if (wanted("hbm"))
    for (const double alpha : {0.8, 0.0}) {
      TrialOptions all = options;
      all.share = 1;
      all.alpha = alpha;
      row(engine, all, seconds, fmt::format("hbm/{:.2f}", alpha));
    }
  // How long does a batch of 4,096 take, with learning and 10,000 updates a second?
  if (wanted("latency")) {
    TrialOptions small = options;
    small.batch = 4096;
    small.batches = 64;
    small.alpha = 1.05;
    for (const std::uint64_t updates : {0, 10'000}) {
      small.updates = updates;
      small.learn_aside = updates > 0;
      Trial trial(engine, small);
      if (updates == 0) show_costs(trial);
      const TrialResult result = trial.latency(20'000);
      fmt::print(
          "latency/{} updates/s           p50 {:.1f} us  p95 {:.1f}  p99 {:.1f}  hit rate {:.3f}\n",
          updates, result.p50 * 1e6, result.p95 * 1e6, result.p99 * 1e6, result.hit_rate);
    }
  }
  // How soon is the order learned, from nothing, and after the hot keys have changed?
  if (wanted("learning")) {
    TrialOptions unknown = options;
    unknown.ordered = false;
    unknown.learn = true;
    unknown.alpha = 1.05;
    unknown.batches = 64;
    Trial trial(engine, unknown);
    const double best = trial.ideal_hit_rate();
    for (const bool drifted : {false, true})
      trial.learn(500, 4, drifted, [&](std::uint64_t batch, double rate) {
        fmt::print("learning/{}  after {:>4} batches: hit rate {:.3f} (best {:.3f})\n",
                   drifted ? "drift" : "nothing", batch, rate, best);
        std::fflush(stdout);
      });
    fmt::print("moved {} rows\n", trial.table().stats().moved);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench-embedding: {}\n", error.what());
    return 1;
  }
}
