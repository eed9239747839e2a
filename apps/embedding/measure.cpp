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
      : engine_(engine), stream_(stream), view_(view), work_(engine, stream, view.row, streams) {
    // Every position is its own key.
    view_.entries = nullptr;
    view_.keys = nullptr;
    view_.entry_count = positions;
  }

  // Room for batches of `n`.
  void prepare(std::uint32_t n) {
    keys_ = {};
    rows_ = {};
    keys_ = Resident<std::uint64_t>(engine_, stream_, n, "keys of a trial");
    rows_ = Resident<float>(engine_, stream_, std::uint64_t{n} * view_.row.dim, "rows of a trial");
    work_.make_room(n, n, StreamWork::Staged::host);
    const std::uint64_t cold = view_.entry_count - view_.hot_rows;
    std::vector<std::uint64_t> keys(n);
    for (std::uint32_t i = 0; i < n; ++i) keys[i] = view_.hot_rows + kernels::mixed(i + 1) % cold;
    engine_.load(keys_.range(), 0, std::span<const std::uint64_t>(keys));
  }

  double seconds(Fetch fetch, const FetchCosts& costs) {
    const auto n = static_cast<std::uint32_t>(keys_.size());
    double least = std::numeric_limits<double>::infinity();
    for (int run = 0; run < 4; ++run) {
      const auto begin = std::chrono::steady_clock::now();
      fetch_rows(engine_, view_, costs, {fetch, n}, {.keys = keys_.data(), .count = n},
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
};

}  // namespace

void measure_costs(Engine& engine, Stream stream, const std::shared_ptr<Streams>& streams,
                   const kernels::TableView& view, std::uint64_t positions, FetchCosts& costs) {
  const std::uint64_t cold = positions - view.hot_rows;
  constexpr std::uint32_t sizes[] = {1u << 10, 1u << 13, 1u << 16, 1u << 18};
  const auto too_many = [&](std::uint32_t n) {
    return n > cold || std::uint64_t{n} * std::max(view.row.stride, 4 * view.row.dim) > 64u << 20;
  };
  if (too_many(sizes[0])) return;
  Trial trial(engine, stream, streams, view, positions);
  FetchCosts::Curve direct, sorted, cpu;
  for (const std::uint32_t n : sizes) {
    if (too_many(n)) break;
    try {
      trial.prepare(n);
    } catch (const Error&) {
      break;  // no room for a trial, nor for such batches
    }
    // How to read a sorted list: the best at the largest number so far.
    FetchCosts best = costs;
    double least = std::numeric_limits<double>::infinity();
    const auto fine_bit = static_cast<std::uint32_t>(
        std::bit_width(std::max<std::uint64_t>(1, (64u << 10) / view.row.stride)) - 1);
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
    sorted.push_back({n, least});
    direct.push_back({n, trial.seconds(Fetch::direct, costs)});
    cpu.push_back({n, trial.seconds(Fetch::cpu, costs)});
  }
  costs.set(Fetch::direct, std::move(direct));
  costs.set(Fetch::sorted, std::move(sorted));
  costs.set(Fetch::cpu, std::move(cpu));
}

}  // namespace holdall::embedding
