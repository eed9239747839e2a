#include <algorithm>
#include <bit>
#include <chrono>
#include <limits>

#include "apps/embedding/fetch.hpp"

namespace holdall::embedding {

namespace {

class Trial {
 public:
  Trial(Engine& engine, Stream stream, const std::shared_ptr<Streams>& streams,
        const kernels::TableView& view, std::uint64_t positions)
      : engine_(engine),
        stream_(stream),
        view_(view),
        work_(engine, stream, 0, view.cold_row, streams) {
    // Every position is its own key.
    view_.entries = nullptr;
    view_.keys = nullptr;
    view_.entry_count = positions;
  }

  // Batches of `cold` cold keys, with `hot` hot ones among them.
  void prepare(std::uint32_t cold, std::uint32_t hot) {
    const std::uint32_t n = cold + hot;
    cold_ = cold;
    keys_ = {};
    rows_ = {};
    n_ = n;
    keys_ = Resident<std::uint64_t>(engine_, stream_, std::uint64_t{runs} * n, "keys of a trial");
    rows_ = Resident<float>(engine_, stream_, std::uint64_t{n} * view_.row.dim, "rows of a trial");
    work_.make_room(n, cold, StreamWork::Staged::host);
    const std::uint64_t cold_rows = view_.entry_count - view_.hot_rows;
    std::vector<std::uint64_t> keys(keys_.size());
    std::uint64_t cold_so_far = 0;
    for (std::uint64_t i = 0; i < keys.size(); ++i) {
      const bool is_cold = (i + 1) * cold / n > cold_so_far;  // evenly spread
      cold_so_far += is_cold;
      keys[i] = is_cold ? view_.hot_rows + kernels::mixed(i + 1) % cold_rows
                        : kernels::mixed(i + 1) % view_.hot_rows;
    }
    engine_.load(keys_.range(), 0, std::span<const std::uint64_t>(keys));
  }

  double seconds(Fetch fetch, const FetchCosts& costs) {
    double least = std::numeric_limits<double>::infinity();
    for (int run = 0; run < runs; ++run) {
      const auto begin = std::chrono::steady_clock::now();
      fetch_rows(
          engine_, view_, costs, {fetch, cold_},
          {.keys = keys_.data() + std::uint64_t{n_} * static_cast<unsigned>(run), .count = n_},
          {rows_.data(), RowType::fp32, view_.row.dim * 4ull}, work_, stream_);
      engine_.synchronize(stream_);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      if (run > 0) least = std::min(least, took.count());  // the first finds caches empty
    }
    return least;
  }

 private:
  Engine& engine_;
  const Stream stream_;
  kernels::TableView view_;
  StreamWork work_;
  Resident<std::uint64_t> keys_;
  Resident<float> rows_;
  // Each with keys of its own: addresses that were translated a moment ago are read several times
  // faster.
  static constexpr int runs = 4;
  std::uint32_t n_ = 0;     // keys a run
  std::uint32_t cold_ = 0;  // and those of them that are cold
};

}  // namespace

void measure_costs(Engine& engine, Stream stream, const std::shared_ptr<Streams>& streams,
                   const kernels::TableView& view, std::uint64_t positions, FetchCosts& costs) {
  const std::uint64_t cold = positions - view.hot_rows;
  constexpr std::uint32_t sizes[] = {1u << 10, 1u << 13, 1u << 15, 1u << 16, 1u << 18, 1u << 20};
  // Trials take no more room than a small part of the table.
  const Bytes row = std::max(view.row.stride, 4 * view.row.dim);
  const Bytes room = std::min<Bytes>(256u << 20, positions * row / 16);
  const auto too_many = [&](std::uint64_t n) { return n > cold || n * row > room; };
  if (too_many(sizes[0])) return;
  Trial trial(engine, stream, streams, view, positions);
  const auto measure = [&](FetchCosts::Batch batch, std::uint32_t hot) {
    for (const std::uint32_t n : sizes) {
      if (too_many(std::uint64_t{n} + hot)) return;
      try {
        trial.prepare(n, hot);
      } catch (const Error&) {
        return;  // no room for a trial, nor for such batches
      }
      // How to read a sorted list: the best at the largest number so far.
      FetchCosts best = costs;
      double least = std::numeric_limits<double>::infinity();
      const auto fine_bit = static_cast<std::uint32_t>(
          std::bit_width(std::max<std::uint64_t>(1, (64u << 10) / view.cold_row.stride)) - 1);
      for (const std::uint32_t blocks : {33u, 66u, 132u})
        for (const std::uint32_t low_bit : {0u, fine_bit}) {
          FetchCosts these;
          these.blocks = blocks;
          these.low_bit = low_bit;
          const double seconds = trial.seconds(Fetch::sorted, these);
          if (seconds >= least) continue;
          least = seconds;
          best.blocks = blocks;
          best.low_bit = low_bit;
        }
      costs.blocks = best.blocks;
      costs.low_bit = best.low_bit;
      costs.add(batch, Fetch::sorted, {n, least});
      for (const Fetch fetch : {Fetch::direct, Fetch::beside, Fetch::cpu})
        costs.add(batch, fetch, {n, trial.seconds(fetch, costs)});
      // And how much of it the CPU takes.
      least = std::numeric_limits<double>::infinity();
      for (const std::uint32_t cpu_parts : {1u, 2u, 3u, 5u, 7u}) {
        FetchCosts these = costs;
        these.cpu_parts = cpu_parts;
        const double seconds = trial.seconds(Fetch::both, these);
        if (seconds >= least) continue;
        least = seconds;
        best.cpu_parts = cpu_parts;
      }
      costs.cpu_parts = best.cpu_parts;
      costs.add(batch, Fetch::both, {n, least});
    }
  };
  if (view.hot_rows > 0) measure(FetchCosts::Batch::large, FetchCosts::hot_keys);
  measure(FetchCosts::Batch::small, 0);
}

}  // namespace holdall::embedding
