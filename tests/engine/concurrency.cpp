// Any number of threads at once on one engine; run under ThreadSanitizer.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include "engine/access_log.hpp"
#include "engine/engine.hpp"
#include "engine/vmm/host.hpp"

namespace holdall {
namespace {

constexpr Bytes chunk = 2_MiB;
constexpr std::uint64_t words_a_chunk = chunk / 8;
constexpr std::uint64_t stride = 4096;  // of the words that are looked at: one a page or so

std::uint64_t word(std::uint64_t i, std::uint64_t version) { return (i + 1) * 0x9e3779b97f4a7c15 ^ version; }

class Threads : public testing::Test {
 protected:
  static Config config(std::uint64_t frames, int devices = 1) {
    Config config;
    config.driver = "host";
    config.memory = frames * chunk;
    config.host_memory = 1_GiB;
    config.chunk = chunk;
    config.devices = devices;
    return config;
  }
  // A range whose words are word(i, 0), in pinned memory.
  static Range<std::uint64_t> filled(Engine& engine, std::uint64_t chunks) {
    auto range = engine.reserve<std::uint64_t>(chunks * words_a_chunk, {.name = "shared", .backing = pinned()});
    std::uint64_t* const to = engine.contents(range);
    for (std::uint64_t i = 0; i < range.size(); i += stride) to[i] = word(i, 0);
    return range;
  }
  // Puts a check of chunk `c` on the stream.
  void expect(Stream stream, const Range<std::uint64_t>& range, std::uint64_t c, std::uint64_t version) {
    vmm::launch(stream, [this, at = range.data(), c, version] {
      for (std::uint64_t i = c * words_a_chunk; i < (c + 1) * words_a_chunk; i += stride)
        if (at[i] != word(i, version)) ++wrong_;
    });
  }
  static void put(Stream stream, const Range<std::uint64_t>& range, std::uint64_t c, std::uint64_t version) {
    vmm::launch(stream, [at = range.data(), c, version] {
      for (std::uint64_t i = c * words_a_chunk; i < (c + 1) * words_a_chunk; i += stride)
        at[i] = word(i, version);
    });
  }
  static void run(int threads, const std::function<void(int)>& body) {
    std::vector<std::thread> running;
    for (int t = 0; t < threads; ++t) running.emplace_back(body, t);
    for (std::thread& thread : running) thread.join();
  }

  std::atomic<int> wrong_{0};
};

TEST_F(Threads, LeaseOverlappingSetsNearTheBudget) {
  Engine engine(config(8));
  const auto range = filled(engine, 20);
  run(5, [&](int t) {
    const Stream stream = engine.stream();
    std::minstd_rand random(static_cast<unsigned>(t) + 1);
    for (int i = 0; i < 16; ++i) {
      ChunkSet set(range.chunks());
      for (int k = 0; k < 6; ++k) set.add(random() % range.chunks());
      const auto lease = engine.acquire(stream, {read(range, set)});
      for (const ChunkRun run : set.runs())
        for (std::uint64_t c = run.first; c < run.first + run.count; ++c) expect(stream, range, c, 0);
    }
    engine.synchronize(stream);
  });
  EXPECT_EQ(wrong_, 0);
  EXPECT_LE(engine.stats().devices[0].allocated, 8 * chunk);
}

TEST_F(Threads, WriteTheirOwnPartsWhileOthersForceThemOut) {
  Engine engine(config(7));
  auto range = engine.reserve<std::uint64_t>(24 * words_a_chunk, {.name = "written"});
  run(4, [&](int t) {
    const Stream stream = engine.stream();
    const auto own = static_cast<std::uint64_t>(t) * 6;
    for (std::uint64_t version = 1; version <= 6; ++version)
      for (std::uint64_t c = own; c < own + 6; ++c) {
        const auto lease = engine.acquire(stream, {write(range, c * words_a_chunk, words_a_chunk)});
        if (version > 1) expect(stream, range, c, version - 1);
        put(stream, range, c, version);
      }
    engine.synchronize(stream);
  });
  EXPECT_EQ(wrong_, 0);
  EXPECT_GT(engine.stats().write_backs, 0u);
}

TEST_F(Threads, DoEverythingAtOnce) {
  Engine engine(config(10, 2));
  const auto shared = filled(engine, 16);
  const std::vector<std::function<void(int)>> jobs = {
      [&](int) {  // leases
        const Stream stream = engine.stream(1);
        for (std::uint64_t i = 0; i < 60; ++i) {
          const auto lease = engine.acquire(stream, {read(shared, i * 5 % 16 * words_a_chunk, words_a_chunk)});
          expect(stream, shared, i * 5 % 16, 0);
        }
        engine.synchronize(stream);
      },
      [&](int) {  // ranges come and go
        const Stream stream = engine.stream(0);
        for (int i = 0; i < 12; ++i) {
          auto range = engine.reserve<std::uint64_t>(3 * words_a_chunk, {.name = "short-lived"});
          {
            const auto lease = engine.acquire(stream, {overwrite(range)});
            for (std::uint64_t c = 0; c < 3; ++c) put(stream, range, c, 9);
          }
          const auto lease = engine.acquire(stream, {read(range)});
          for (std::uint64_t c = 0; c < 3; ++c) expect(stream, range, c, 9);
        }
        engine.synchronize(stream);
      },
      [&](int) {  // passes
        const Stream stream = engine.stream(0);
        for (int i = 0; i < 4; ++i)
          for (Passes passes = engine.passes(stream, {read(shared)}); passes.next();)
            for (const Need& part : passes.parts())
              for (std::uint64_t c = 0; c < part.run.count; ++c) expect(stream, shared, part.run.first + c, 0);
        engine.synchronize(stream);
      },
      [&](int) {  // hints, budgets, statistics
        for (std::uint64_t i = 0; i < 40; ++i) {
          engine.prefetch({read(shared, i * 3 % 16 * words_a_chunk, words_a_chunk)}, static_cast<int>(i % 2));
          engine.advise(read(shared, i % 16 * words_a_chunk, words_a_chunk),
                        i % 3 ? Advice::do_not_need : Advice::keep);
          engine.set_memory(static_cast<int>(i % 2), (8 + i % 3) * chunk);
          EXPECT_LE(engine.stats().ranges.size(), 64u);
        }
      },
  };
  run(static_cast<int>(jobs.size()), [&](int t) { jobs[static_cast<std::size_t>(t)](t); });
  EXPECT_EQ(wrong_, 0);
}

TEST_F(Threads, HandLeasesToEachOther) {
  Engine engine(config(4));
  const auto range = filled(engine, 12);
  std::atomic<Lease*> slot{nullptr};
  std::atomic<bool> done{false};
  std::thread releaser([&] {
    while (!done || slot.load()) {
      if (Lease* const lease = slot.exchange(nullptr)) delete lease;
      std::this_thread::yield();
    }
  });
  const Stream stream = engine.stream();
  for (std::uint64_t c = 0; c < 48; ++c) {
    auto lease = std::make_unique<Lease>(
        engine.acquire(stream, {read(range, c % 12 * words_a_chunk, words_a_chunk)}));
    expect(stream, range, c % 12, 0);
    lease->hand_over();
    while (slot.load()) std::this_thread::yield();
    slot = lease.release();
  }
  done = true;
  releaser.join();
  engine.synchronize(stream);
  EXPECT_EQ(wrong_, 0);
}

// The pager, which drains, is far slower than those who append, and sleeps at first.
TEST(AccessLog, KeepsTheOrderOfTimesAndDoesNotGrowWithoutBound) {
  constexpr int threads = 4, entries_each = 200'000;
  AccessLog log;
  std::atomic<std::int64_t> clock{0};
  std::atomic<int> running{threads};
  std::vector<std::jthread> appending;
  for (int t = 0; t < threads; ++t)
    appending.emplace_back([&] {
      for (int i = 0; i < entries_each; ++i) (void)log.append({nullptr, {}, Access::read, 0, clock++});
      --running;
    });
  std::size_t seen = 0, most = 0;
  const auto drain = [&] {
    std::size_t drained = 0;
    std::int64_t last = -1;
    log.drain([&](const AccessLogEntry& entry) {
      EXPECT_GT(entry.time, last);
      last = entry.time;
      ++drained;
    });
    seen += drained;
    most = std::max(most, drained);
  };
  while (running > 0) drain();
  drain();
  EXPECT_EQ(seen, std::size_t{threads} * entries_each);
  EXPECT_LE(most, std::size_t{threads} * AccessLog::full_shard);
}

}  // namespace
}  // namespace holdall
