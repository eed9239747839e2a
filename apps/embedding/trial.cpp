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
      scale_(static_cast<unsigned>(std::bit_width(options.rows - 1))) {
  TableSpec spec;
  spec.name = "trial";
  spec.type = options.type;
  spec.cold_type = options.cold_type;
  const kernels::RowLayout row = kernels::layout_of(options.type, options.dim);
  if (options.share < 1)
    spec.memory = round_up(static_cast<Bytes>(options.share * double(options.rows)) * row.stride,
                           rows_layout(spec.name, row, row, options.rows, 0).chunk);
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
  for (int device = 0; device < engine.devices(); ++device) {
    const Stream stream = engine.stream(device);
    sides_.push_back(
        {stream, {}, kernels::DeviceArray<std::byte>(options.batch * options.dim * 4, stream)});
  }
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
  std::vector<std::uint64_t> keys(options_.batch);
  for (Side& side : sides_) {
    ++round_;
    side.keys.clear();
    for (std::uint64_t b = 0; b < options_.batches; ++b) {
      constexpr std::uint64_t piece = 1 << 14;
      tbb::parallel_for(
          std::uint64_t{0}, (options_.batch + piece - 1) / piece, [&](std::uint64_t p) {
            std::mt19937_64 random(kernels::mixed(b << 32 | p) + kernels::mixed(round_));
            for (std::uint64_t i = p * piece; i < std::min(options_.batch, (p + 1) * piece); ++i)
              keys[i] = key_of(zipf(random));
          });
      side.keys.emplace_back(keys, side.stream);
    }
  }
}

void Trial::lookup(const Side& side, std::uint64_t batch) {
  table_->lookup(side.keys[batch % side.keys.size()].data(), options_.batch,
                 {side.out.data(), RowType::fp32, options_.dim * 4ull}, side.stream);
}

template <class Round>
TrialResult Trial::repeat(double seconds, const Round& round) {
  std::atomic<std::uint64_t> lookups{0};
  const auto begin = Clock::now();
  const auto run = [&](const Side& side) {
    do {
      round(side);
      engine_.synchronize(side.stream);
      lookups += options_.batches;
    } while (Seconds(Clock::now() - begin).count() < seconds);
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < sides_.size(); ++i) others.emplace_back([&, i] { run(sides_[i]); });
    run(sides_[0]);
  }
  TrialResult result{.lookups = lookups, .seconds = Seconds(Clock::now() - begin).count()};
  result.rows_per_second = double(result.lookups * options_.batch) / result.seconds;
  return result;
}

double Trial::hit_rate_since(const TableStats& before) {
  for (const Side& side : sides_) table_->check(side.stream);
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
  const auto all_batches = [this](const Side& side) {
    for (std::uint64_t b = 0; b < options_.batches; ++b) lookup(side, b);
  };
  for (const Side& side : sides_) {
    all_batches(side);
    table_->check(side.stream);
  }
  const TableStats before = table_->stats();
  const Updates updates(engine_, *table_, options_.rows, options_.updates);
  TrialResult result = repeat(seconds, all_batches);
  result.hit_rate = hit_rate_since(before);
  return result;
}

TrialResult Trial::latency(std::uint64_t lookups) {
  const Side& side = sides_.front();
  for (std::uint64_t b = 0; b < options_.batches; ++b) lookup(side, b);
  table_->check(side.stream);
  const TableStats before = table_->stats();
  const Updates updates(engine_, *table_, options_.rows, options_.updates);
  std::vector<double> took(lookups);
  const auto begin = Clock::now();
  for (std::uint64_t i = 0; i < lookups; ++i) {
    const auto start = Clock::now();
    lookup(side, i);
    engine_.synchronize(side.stream);
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
  return repeat(seconds, [&](const Side& side) {
    for (const auto& keys : side.keys)
      kernels::gather(view, {.keys = keys.data(), .count = options_.batch},
                      {side.out.data(), RowType::fp32, options_.dim * 4ull}, side.stream);
  });
}

void Trial::learn(std::uint64_t batches, std::uint64_t every, bool drifted,
                  const std::function<void(std::uint64_t, double)>& tell) {
  if (drifted) ++drift_;
  const Side& side = sides_.front();
  table_->check(side.stream);
  TableStats before = table_->stats();
  for (std::uint64_t b = 1; b <= batches; ++b) {
    if (b % side.keys.size() ==
        1 % side.keys.size()) {  // new keys: what is learned is not by heart
      engine_.synchronize(side.stream);
      make_batches();
    }
    lookup(side, b);
    if (b % every == 0) (void)table_->learn();
    if (b % std::max<std::uint64_t>(1, batches / 10) != 0) continue;
    tell(b, hit_rate_since(before));
    before = table_->stats();
  }
}

std::uint64_t Trial::wrong() {
  std::uint64_t wrong = 0;
  for (const Side& side : sides_) {
    lookup(side, 0);
    table_->check(side.stream);
    const std::vector<std::uint64_t> keys = side.keys.front().read();
    const std::vector<std::byte> out = side.out.read();
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(keys.size(), 10'000); ++i) {
      const auto* const row = reinterpret_cast<const float*>(out.data()) + i * options_.dim;
      bool good = true;
      for (std::uint32_t k = 0; k < options_.dim; ++k) {
        const float expected = made_element(keys[i], k);
        const bool exact = options_.type == RowType::fp32 && !options_.cold_type;
        const float tolerance = exact ? 0 : expected * 0.01f + 17;
        good = good && std::abs(row[k] - expected) <= tolerance;
      }
      wrong += !good;
    }
  }
  return wrong;
}

}  // namespace holdall::embedding
