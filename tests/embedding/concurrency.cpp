// Look-ups, updates, learning, resizes and new versions at the same time: a served row is always
// one that the key had.
#include <tbb/global_control.h>

#include <atomic>
#include <thread>

#include "tests/embedding/world.hpp"

namespace holdall::embedding {
namespace {

#if defined(__SANITIZE_THREAD__)
// ThreadSanitizer sees no order between TBB's workers, since TBB is not built for it, and would
// tell of races that are none: here are no threads but this test's, the streams' and the pager's.
const tbb::global_control no_workers(tbb::global_control::max_allowed_parallelism, 1);
const auto devices = testing::Values(1, 2);  // five take minutes
#else
const auto devices = testing::Values(1, 2, 5);
#endif

// On so many devices.
class Concurrency : public testing::TestWithParam<int> {};

TEST_P(Concurrency, ServedRowsAreWholeAndNeverOlderThanAFinishedUpdate) {
  const std::uint64_t rows = 40'000 * static_cast<std::uint64_t>(GetParam());
  constexpr std::uint32_t dim = 32;
  constexpr std::uint64_t watched = 64;  // keys that are written to
  constexpr Bytes chunk = Bytes{2} << 20;
  Config config;
  config.memory = Bytes{128} << 20;
  config.driver = "host";
  config.devices = GetParam();
  Engine engine(config);
  EmbeddingTable table = EmbeddingTable::open(
      engine,
      {.memory = chunk,
       .learning = {.on = true, .background = false, .one_in = 1, .rows_at_once = 256}},
      *rows_of(rows, dim));
  std::atomic<std::uint64_t> finished{0};  // the newest version that is written everywhere
  std::atomic<std::uint64_t> begun{0};
  std::atomic<std::uint64_t> wrong{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;

  for (int reader = 0; reader < 3; ++reader)
    threads.emplace_back([&, reader] {
      std::mt19937_64 random(static_cast<unsigned>(reader));
      const Stream stream = engine.stream(reader % engine.devices());
      Keys64 keys(300);
      std::vector<float> out(keys.size() * dim);
      while (!stop) {
        for (auto& key : keys) key = random() % 4 == 0 ? random() % rows : random() % watched * 601;
        const std::uint64_t least = finished;
        table.lookup(keys.data(), keys.size(), {out.data(), RowType::fp32, dim * 4}, stream);
        engine.synchronize(stream);
        const std::uint64_t most = begun;
        for (std::uint64_t i = 0; i < keys.size(); ++i) {
          const bool written = keys[i] % 601 == 0 && keys[i] / 601 < watched;
          const auto version = static_cast<std::uint64_t>(out[i * dim]) / 16;
          for (std::uint32_t k = 0; k < dim; ++k)
            if (out[i * dim + k] != element(keys[i], version, k)) ++wrong;
          if (!written && version != 0) ++wrong;
          if (written && (version < least || version > most)) ++wrong;
        }
      }
    });
  threads.emplace_back([&] {
    std::vector<Stream> streams;
    for (int device = 0; device < engine.devices(); ++device)
      streams.push_back(engine.stream(device));
    Keys64 keys(watched);
    for (std::uint64_t i = 0; i < watched; ++i) keys[i] = i * 601;
    std::vector<float> in(watched * dim);
    for (std::uint64_t version = 1; version < 15; ++version) {
      for (std::uint64_t i = 0; i < watched; ++i)
        for (std::uint32_t k = 0; k < dim; ++k) in[i * dim + k] = element(keys[i], version, k);
      const Stream stream = streams[version % streams.size()];
      begun = version;
      table.update(keys.data(), watched, {in.data(), RowType::fp32, dim * 4}, stream);
      engine.synchronize(stream);
      finished = version;
      for (int step = 0; step < 4; ++step) (void)table.learn();
      (void)table.set_budget(version % 3 * chunk);
    }
    stop = true;
  });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(table.stats().moved, 0u);
}

TEST_P(Concurrency, OldReadersFinishWhenAVersionReplacesTheirs) {
  Config config;
  config.memory = Bytes{128} << 20;
  config.driver = "host";
  config.devices = GetParam();
  Engine engine(config);
  constexpr std::uint64_t rows = 20'000;
  EmbeddingTable table =
      EmbeddingTable::open(engine, {.memory = Bytes{2} << 20}, *rows_of(rows, 32));
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> wrong{0};
  std::vector<std::thread> threads;
  for (int reader = 0; reader < 2; ++reader)
    threads.emplace_back([&, reader] {
      std::mt19937_64 random(static_cast<unsigned>(reader));
      const Stream stream = engine.stream(reader % engine.devices());
      Keys64 keys(200);
      std::vector<float> out(keys.size() * 32);
      std::uint64_t newest = 0;
      while (!stop) {
        for (auto& key : keys) key = random() % rows;
        table.lookup(keys.data(), keys.size(), {out.data(), RowType::fp32, 128}, stream);
        engine.synchronize(stream);
        const auto version = static_cast<std::uint64_t>(out[0]) / 16;
        if (version < newest) ++wrong;
        newest = version;
        for (std::uint64_t i = 0; i < keys.size(); ++i)
          for (std::uint32_t k = 0; k < 32; ++k)
            if (out[i * 32 + k] != element(keys[i], version, k)) ++wrong;
      }
    });
  for (std::uint64_t version = 1; version < 5; ++version)
    table.load_version(*rows_of(rows, 32, {}, version));
  stop = true;
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0u);
}

INSTANTIATE_TEST_SUITE_P(Devices, Concurrency, devices,
                         [](const auto& given) { return std::to_string(given.param); });

}  // namespace
}  // namespace holdall::embedding
