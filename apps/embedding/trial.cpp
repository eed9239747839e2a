#include "apps/embedding/trial.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstring>
#include <thread>

#include "apps/embedding/layout.hpp"
#include "apps/embedding/version.hpp"
#include "apps/embedding/zipf.hpp"
#include "kernels/lookup.hpp"
#include "kernels/random_edge.hpp"

namespace holdall::embedding {

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

float made_element(std::uint64_t key, std::uint32_t k) {
  return static_cast<float>((key * 31 + k) % 4093);
}

std::unique_ptr<Source> made_rows(std::uint64_t rows, std::uint32_t dim) {
  return from_function({"made rows", rows, dim, RowType::fp32, false},
                       [dim](std::uint64_t first, std::uint64_t count, std::byte* to) {
                         auto* at = reinterpret_cast<float*>(to);
                         for (std::uint64_t i = first; i < first + count; ++i)
                           for (std::uint32_t k = 0; k < dim; ++k) *at++ = made_element(i, k);
                       });
}

// Updates rows with what they hold already, so many a second.
class Updates {
 public:
  Updates(Engine& engine, EmbeddingTable& table, std::uint64_t rows, std::uint64_t per_second)
      : stream_(engine.stream()) {
    if (per_second == 0) return;
    thread_ = std::jthread([&, rows, per_second](std::stop_token stop) {
      constexpr std::uint64_t each = 100;
      const std::uint32_t dim = table.dim();
      const auto keys = engine.host_array<std::uint64_t>(each, "keys to update");
      const auto values = engine.host_array<float>(each * dim, "rows to update");
      auto next = Clock::now();
      for (std::uint64_t turn = 0; !stop.stop_requested(); ++turn) {
        for (std::uint64_t i = 0; i < each; ++i) {
          keys[i] = kernels::mixed(turn * each + i) % rows;
          for (std::uint32_t k = 0; k < dim; ++k) values[i * dim + k] = made_element(keys[i], k);
        }
        table.update(keys.data(), each, {values.data(), RowType::fp32, dim * 4ull}, stream_);
        engine.synchronize(stream_);
        next +=
            std::chrono::duration_cast<Clock::duration>(Seconds(double(each) / double(per_second)));
        std::this_thread::sleep_until(next);
      }
    });
  }

 private:
  const Stream stream_;
  std::jthread thread_;
};

}  // namespace

Trial::Trial(Engine& engine, const TrialOptions& options)
    : engine_(engine),
      options_(options),
      stream_(engine.stream()),
      scale_(static_cast<unsigned>(std::bit_width(options.rows - 1))) {
  TableSpec spec;
  spec.name = "trial";
  spec.type = options.type;
  const RowsLayout layout =
      rows_layout(spec.name, kernels::layout_of(options.type, options.dim), options.rows, 0);
  if (options.share < 1)
    spec.memory = round_up(
        static_cast<Bytes>(options.share * double(options.rows)) * layout.row.stride, layout.chunk);
  spec.fetch = options.fetch;
  spec.learning.on = options.learn || options.learn_aside;
  spec.learning.background = options.learn_aside;
  if (options.ordered) {
    spec.frequencies.resize(options.rows);
    tbb::parallel_for(std::uint64_t{0}, options.rows, [&](std::uint64_t rank) {
      spec.frequencies[key_of(rank)] =
          1 + static_cast<std::uint64_t>(1e12 * std::pow(double(rank + 1), -options.alpha));
    });
  }
  table_ = std::make_unique<EmbeddingTable>(
      EmbeddingTable::open(engine, spec, *made_rows(options.rows, options.dim)));
  out_ = kernels::DeviceArray<std::byte>(options.batch * options.dim * 4, stream_);
  make_batches();
}

// A permutation: of the next power of two, again until it falls among the rows.
std::uint64_t Trial::key_of(std::uint64_t rank) const {
  const kernels::RandomGraph words{.scale = std::max(1u, scale_), .seed = 7 + drift_};
  do {
    rank = kernels::random::relabel(rank, words);
  } while (rank >= options_.rows);
  return rank;
}

void Trial::make_batches() {
  const Zipf zipf(options_.rows, options_.alpha);
  ++round_;
  keys_.clear();
  std::vector<std::uint64_t> keys(options_.batch);
  for (std::uint64_t b = 0; b < options_.batches; ++b) {
    constexpr std::uint64_t piece = 1 << 14;
    tbb::parallel_for(std::uint64_t{0}, (options_.batch + piece - 1) / piece, [&](std::uint64_t p) {
      std::mt19937_64 random(kernels::mixed(b << 32 | p) + kernels::mixed(round_));
      for (std::uint64_t i = p * piece; i < std::min(options_.batch, (p + 1) * piece); ++i)
        keys[i] = key_of(zipf(random));
    });
    keys_.emplace_back(keys, stream_);
  }
}

void Trial::lookup(std::uint64_t batch) {
  table_->lookup(keys_[batch % keys_.size()].data(), options_.batch,
                 {out_.data(), RowType::fp32, options_.dim * 4ull}, stream_);
}

double Trial::hit_rate_since(const TableStats& before) {
  table_->check(stream_);
  const TableStats now = table_->stats();
  return now.keys == before.keys
             ? 0
             : 1 - double(now.cold - before.cold) / double(now.keys - before.keys);
}

double Trial::ideal_hit_rate() const {
  const double hot =
      double(table_->stats().device_bytes) / kernels::layout_of(options_.type, options_.dim).stride;
  const auto sum = [this](std::uint64_t ranks) {
    return tbb::parallel_reduce(
        tbb::blocked_range<std::uint64_t>(0, ranks), 0.0,
        [this](const tbb::blocked_range<std::uint64_t>& some, double so_far) {
          for (std::uint64_t rank = some.begin(); rank < some.end(); ++rank)
            so_far += std::pow(double(rank + 1), -options_.alpha);
          return so_far;
        },
        std::plus<>());
  };
  return sum(std::min(options_.rows, static_cast<std::uint64_t>(hot))) / sum(options_.rows);
}

TrialResult Trial::throughput(double seconds) {
  for (std::uint64_t b = 0; b < options_.batches; ++b) lookup(b);
  table_->check(stream_);
  const TableStats before = table_->stats();
  const Updates updates(engine_, *table_, options_.rows, options_.updates);
  TrialResult result;
  const auto begin = Clock::now();
  do {
    for (std::uint64_t b = 0; b < options_.batches; ++b) lookup(b);
    result.lookups += options_.batches;
    engine_.synchronize(stream_);
    result.seconds = Seconds(Clock::now() - begin).count();
  } while (result.seconds < seconds);
  result.rows_per_second = double(result.lookups * options_.batch) / result.seconds;
  result.hit_rate = hit_rate_since(before);
  return result;
}

TrialResult Trial::latency(std::uint64_t lookups) {
  for (std::uint64_t b = 0; b < options_.batches; ++b) lookup(b);
  table_->check(stream_);
  const TableStats before = table_->stats();
  const Updates updates(engine_, *table_, options_.rows, options_.updates);
  std::vector<double> took(lookups);
  const auto begin = Clock::now();
  for (std::uint64_t i = 0; i < lookups; ++i) {
    const auto start = Clock::now();
    lookup(i);
    engine_.synchronize(stream_);
    took[i] = Seconds(Clock::now() - start).count();
  }
  TrialResult result{.lookups = lookups, .seconds = Seconds(Clock::now() - begin).count()};
  std::ranges::sort(took);
  result.p50 = took[lookups / 2];
  result.p95 = took[lookups * 95 / 100];
  result.p99 = took[lookups * 99 / 100];
  result.rows_per_second = double(lookups * options_.batch) / result.seconds;
  result.hit_rate = hit_rate_since(before);
  return result;
}

TrialResult Trial::plain(double seconds) {
  const kernels::TableView view = table_->version()->view();
  TrialResult result;
  const auto begin = Clock::now();
  do {
    for (const auto& keys : keys_)
      kernels::gather(view, {.keys = keys.data(), .count = options_.batch},
                      {out_.data(), RowType::fp32, options_.dim * 4ull}, stream_);
    result.lookups += options_.batches;
    engine_.synchronize(stream_);
    result.seconds = Seconds(Clock::now() - begin).count();
  } while (result.seconds < seconds);
  result.rows_per_second = double(result.lookups * options_.batch) / result.seconds;
  return result;
}

void Trial::learn(std::uint64_t batches, std::uint64_t every, bool drifted,
                  const std::function<void(std::uint64_t, double)>& tell) {
  if (drifted) ++drift_;
  table_->check(stream_);
  TableStats before = table_->stats();
  for (std::uint64_t b = 1; b <= batches; ++b) {
    if (b % keys_.size() == 1 % keys_.size()) {  // new keys: what is learned is not by heart
      engine_.synchronize(stream_);
      make_batches();
    }
    lookup(b);
    if (b % every == 0) (void)table_->learn();
    if (b % std::max<std::uint64_t>(1, batches / 10) != 0) continue;
    tell(b, hit_rate_since(before));
    before = table_->stats();
  }
}

std::uint64_t Trial::wrong() {
  const std::vector<std::uint64_t> all = keys_.front().read();
  const std::vector<std::uint64_t> keys(
      all.begin(), all.begin() + long(std::min<std::uint64_t>(all.size(), 10'000)));
  const EmbeddingTable::Batch batch = table_->export_batch(keys);
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < keys.size(); ++i) {
    bool good = batch.found[i] != 0;
    for (std::uint32_t k = 0; k < options_.dim; ++k) {
      const float expected = made_element(keys[i], k);
      const float tolerance = options_.type == RowType::fp32 ? 0 : expected * 0.01f + 17;
      good = good && std::abs(batch.rows[i * options_.dim + k] - expected) <= tolerance;
    }
    wrong += !good;
  }
  return wrong;
}

}  // namespace holdall::embedding
