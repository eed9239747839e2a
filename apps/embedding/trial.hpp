// A table of made rows, and look-ups with keys as skewed as one likes: what `holdall embed bench`
// and bench/ measure. Each device of the engine looks up batches of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "apps/embedding/table.hpp"
#include "kernels/device_array.hpp"

namespace holdall::embedding {

struct TrialOptions {
  std::uint64_t rows = 1 << 20;
  std::uint32_t dim = 32;
  RowType type = RowType::fp32;
  std::optional<RowType> cold_type = {};
  double share = 0.25;  // of the rows in the memory of each device
  double alpha = 1.05;  // of Zipf; 0: uniform
  std::uint64_t batch = 1 << 16;
  std::uint64_t batches = 16;  // that differ
  bool ordered = true;         // the frequencies are known
  bool learn = false;          // in steps that learn() makes
  bool learn_aside = false;    // by a thread
  Fetch fetch = Fetch::measured;
  std::uint64_t updates = 0;  // rows a second, beside the look-ups
};

struct TrialResult {
  std::uint64_t lookups = 0;
  double seconds = 0;
  double rows_per_second = 0;
  double hit_rate = 0;
  double p50 = 0, p95 = 0, p99 = 0;  // seconds from the call until the rows are there
};

class Trial {
 public:
  Trial(Engine& engine, const TrialOptions& options);

  // For about `seconds`, one batch right behind the other, on all devices at once.
  TrialResult throughput(double seconds);
  // One batch at a time, `lookups` of them, on the first device.
  TrialResult latency(std::uint64_t lookups);
  // Through the same entries, by one kernel that counts nothing and asks nobody: what the rest
  // costs.
  TrialResult plain(double seconds);
  // `batches` with a step of learning after each `every`; `drifted`: other keys are hot than
  // before. Tells hit rates as it goes.
  void learn(std::uint64_t batches, std::uint64_t every, bool drifted,
             const std::function<void(std::uint64_t batch, double hit_rate)>& tell);
  // Of the first 10,000 rows of a batch of each device, those that are not what was put in.
  std::uint64_t wrong();

  EmbeddingTable& table() { return *table_; }
  // The share of requests that the best order serves from device memory.
  double ideal_hit_rate() const;

 private:
  struct Side {  // of one device
    Stream stream;
    std::vector<kernels::DeviceArray<std::uint64_t>> keys;
    kernels::DeviceArray<std::byte> out;
  };

  std::uint64_t key_of(std::uint64_t rank) const;
  void make_batches();
  void lookup(const Side& side, std::uint64_t batch);
  // Calls round(side) on all devices at once, again and again, for so many seconds.
  template <class Round>
  TrialResult repeat(double seconds, const Round& round);
  double hit_rate_since(const TableStats& before);

  Engine& engine_;
  const TrialOptions options_;
  unsigned scale_ = 0;       // of the permutation that scatters the keys
  std::uint64_t drift_ = 0;  // how often the hot keys have changed
  std::uint64_t round_ = 0;  // how often batches were made
  std::unique_ptr<EmbeddingTable> table_;
  std::vector<Side> sides_;
};

}  // namespace holdall::embedding
