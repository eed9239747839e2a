// How many rows a second are pooled into bags: by one table, by many tables in one launch, and by
// the same many one after the other, which is the baseline?
//
//   bench-bags                               # a size for a GPU; a small one on the host
//   bench-bags --rows 67108864 --tables 16 --dim 32 --share 0.25 --indices 1048576 --each 32
//
// Rows are in the order of how often they are asked for, known when the tables are opened.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <exception>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "apps/embedding/table.hpp"
#include "apps/embedding/zipf.hpp"
#include "engine/vmm/driver.hpp"
#include "kernels/device_array.hpp"

namespace {

using namespace holdall;
using namespace holdall::embedding;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

struct Options {
  std::uint64_t rows = 1 << 19;  // of all tables
  std::uint32_t dim = 32;
  double share = 0.25;  // of the rows in device memory
  std::uint64_t tables = 16;
  std::uint64_t indices = 1 << 16;  // of a launch, of all tables
  std::uint64_t each = 32;          // of a bag
  double alpha = 1.05;
  double seconds = 0.5;
};
constexpr std::uint64_t launches = 8;  // that differ

// Small whole numbers, so that sums are exact in any order.
float element(std::uint64_t row, std::uint32_t k) {
  return static_cast<float>((row * 31 + k) % 61);
}

std::unique_ptr<Source> made_rows(std::uint64_t rows, std::uint32_t dim) {
  return from_function({"made rows", rows, dim, RowType::fp32, false},
                       [dim](std::uint64_t first, std::uint64_t count, std::byte* to) {
                         auto* at = reinterpret_cast<float*>(to);
                         for (std::uint64_t i = first; i < first + count; ++i)
                           for (std::uint32_t k = 0; k < dim; ++k) *at++ = element(i, k);
                       });
}

// Some tables, and launches of bags for all of them.
class World {
 public:
  World(Engine& engine, const Options& o, std::uint64_t tables)
      : engine_(engine), o_(o), stream_(engine.stream()), bags_(o.indices / tables / o.each) {
    TableSpec spec;
    const std::uint64_t rows = o.rows / tables;
    for (std::uint64_t rank = 0; rank < rows; ++rank)
      spec.frequencies.push_back(
          1 + static_cast<std::uint64_t>(1e12 * std::pow(double(rank + 1), -o.alpha)));
    if (o.share < 1) {
      spec.chunk = rows * o.dim * 4 >= 1_GiB ? 32_MiB : 2_MiB;
      spec.memory = round_up(static_cast<Bytes>(o.share * double(rows)) * o.dim * 4, spec.chunk);
    }
    for (std::uint64_t t = 0; t < tables; ++t) {
      spec.name = fmt::format("table {}", t);
      tables_.push_back(EmbeddingTable::open(engine, spec, *made_rows(rows, o.dim)));
    }
    const Zipf zipf(rows, o.alpha);
    std::mt19937_64 random(1);
    std::vector<std::uint64_t> indices(bags_ * tables * o.each), offsets;
    for (std::uint64_t b = 0; b <= bags_ * tables; ++b) offsets.push_back(b * o.each);
    offsets_ = {offsets, stream_};
    for (std::uint64_t launch = 0; launch < launches; ++launch) {
      for (std::uint64_t& index : indices) index = zipf(random);
      indices_.emplace_back(indices, stream_);
    }
    out_ = {bags_ * tables * o.dim, stream_};
  }

  // Table t's sums are columns t * dim on of row b, for each bag b.
  void together(std::uint64_t launch) {
    std::vector<EmbeddingTable*> all;
    for (EmbeddingTable& table : tables_) all.push_back(&table);
    const auto& indices = indices_[launch % launches];
    bags(all,
         {.indices = indices.data(),
          .count = indices.size(),
          .offsets = offsets_.data(),
          .bags = bags_ * tables_.size(),
          .include_last_offset = true},
         out(0), stream_);
  }
  void apart(std::uint64_t launch) {
    const std::uint64_t each = bags_ * o_.each;
    for (std::uint64_t t = 0; t < tables_.size(); ++t)
      tables_[t].bag({.indices = indices_[launch % launches].data() + t * each,
                      .count = each,
                      .offsets = offsets_.data(),  // the first table's, from 0 on, serve all
                      .bags = bags_,
                      .include_last_offset = true},
                     out(t), stream_);
  }

  void measure(const std::string& name, const std::function<void(std::uint64_t)>& work) {
    for (std::uint64_t launch = 0; launch < 2 * launches; ++launch) work(launch);
    engine_.synchronize(stream_);
    std::uint64_t done = 0;
    const auto began = Clock::now();
    double took = 0;
    do {
      for (std::uint64_t launch = 0; launch < launches; ++launch, ++done) work(launch);
      engine_.synchronize(stream_);
      took = Seconds(Clock::now() - began).count();
    } while (took < o_.seconds);
    const double rows = double(done * bags_ * tables_.size() * o_.each) / took;
    fmt::print("{:<24} {:>9.1f} Mrows/s {:>8.1f} GB/s {:>9.1f} us a launch  wrong {}\n", name,
               rows / 1e6, rows * o_.dim * 4 / 1e9, took / double(done) * 1e6, wrong(launches - 1));
    std::fflush(stdout);
  }

 private:
  RowsOut out(std::uint64_t table) const {
    return {out_.data() + table * o_.dim, RowType::fp32, tables_.size() * o_.dim * 4};
  }
  // Of the first bags of each table, the sums of the launch that was last that are not right.
  std::uint64_t wrong(std::uint64_t launch) {
    const std::vector<std::uint64_t> indices = indices_[launch].read();
    const std::vector<float> sums = out_.read();
    std::uint64_t wrong = 0;
    for (std::uint64_t t = 0; t < tables_.size(); ++t)
      for (std::uint64_t b = 0; b < std::min<std::uint64_t>(bags_, 100); ++b)
        for (std::uint32_t k = 0; k < o_.dim; ++k) {
          float sum = 0;
          for (std::uint64_t i = 0; i < o_.each; ++i)
            sum += element(indices[(t * bags_ + b) * o_.each + i], k);
          wrong += sums[(b * tables_.size() + t) * o_.dim + k] != sum;
        }
    return wrong;
  }

  Engine& engine_;
  const Options o_;
  const Stream stream_;
  const std::uint64_t bags_;  // of each table
  std::vector<EmbeddingTable> tables_;
  std::vector<kernels::DeviceArray<std::uint64_t>> indices_;
  kernels::DeviceArray<std::uint64_t> offsets_;
  kernels::DeviceArray<float> out_;
};

int run(int argc, char** argv) {
  const bool gpu = vmm::cuda_available();
  Options o;
  if (gpu) o.rows = 64 << 20, o.indices = 1 << 20;
  std::vector<double> alphas = {1.05, 0};
  CLI::App app{"rows pooled into bags", "bench-bags"};
  app.add_option("--rows", o.rows, "of all tables");
  app.add_option("--dim", o.dim);
  app.add_option("--share", o.share, "of the rows in device memory");
  app.add_option("--tables", o.tables)->check(CLI::Range(1, 4096));
  app.add_option("--indices", o.indices, "of a launch, of all tables");
  app.add_option("--each", o.each, "indices of a bag")->check(CLI::Range(1, 1 << 20));
  app.add_option("--alpha", alphas, "of Zipf, 0: uniform");
  app.add_option("--seconds", o.seconds, "a row");
  CLI11_PARSE(app, argc, argv);
  if (o.indices < o.tables * o.each)
    throw Error(fmt::format("{} indices are less than one bag of {} for each of {} tables",
                            o.indices, o.each, o.tables));
  Config config;
  if (!gpu) config.memory = Bytes{1} << 30;
  Engine engine(config);
  fmt::print("{}: {} rows of {} fp32, {:.0f} % in its memory; {} indices a launch in bags of {}\n",
             engine.driver().info(0).name, o.rows, o.dim, o.share * 100, o.indices, o.each);
  for (const double alpha : alphas) {
    o.alpha = alpha;
    {
      World one(engine, o, 1);
      one.measure(fmt::format("bag/{:.2f}", alpha), [&](std::uint64_t n) { one.apart(n); });
    }
    World many(engine, o, o.tables);
    many.measure(fmt::format("bags/{}/{:.2f}", o.tables, alpha),
                 [&](std::uint64_t n) { many.together(n); });
    many.measure(fmt::format("apart/{}/{:.2f}", o.tables, alpha),
                 [&](std::uint64_t n) { many.apart(n); });
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench-bags: {}\n", error.what());
    return 1;
  }
}
