// The engine on a GPU, where there is one, and on the host driver: what a user relies on, through
// copies alone.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>
#include <vector>

#include "engine/engine.hpp"
#include "engine/vmm/host.hpp"

namespace holdall {
namespace {

constexpr Bytes chunk = 2_MiB;
using Words = std::vector<std::uint64_t>;

class OnDriver : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    std::string why;
    if (GetParam() == std::string("cuda") && !vmm::cuda_available(&why))
      GTEST_SKIP() << "no GPU: " << why;
  }
  static Config config(std::uint64_t frames) {
    Config config;
    config.driver = GetParam();
    config.memory = frames * chunk;
    config.host_memory = 1_GiB;
    config.chunk = chunk;
    return config;
  }
  // Word i of version v.
  static Words contents(std::uint64_t count, std::uint64_t version) {
    Words words(count);
    for (std::uint64_t i = 0; i < count; ++i) words[i] = (i + 1) * 0x9e3779b97f4a7c15 + version;
    return words;
  }
  static Words read_all(Engine& engine, const Range<std::uint64_t>& range) {
    Words words(range.size());
    engine.store(range, 0, std::span(words));
    return words;
  }
};
INSTANTIATE_TEST_SUITE_P(Drivers, OnDriver, testing::Values("host", "cuda"),
                         [](const auto& info) { return std::string(info.param); });

constexpr std::uint64_t words_a_chunk = chunk / 8;

TEST_P(OnDriver, WhatIsLoadedIntoFourTimesTheBudgetIsReadBack) {
  Engine engine(config(4));
  auto range = engine.reserve<std::uint64_t>(16 * words_a_chunk - 5);
  for (const std::uint64_t version : {1, 2}) {
    const Words words = contents(range.size(), version);
    engine.load(range, 0, std::span(words));
    EXPECT_EQ(read_all(engine, range), words);
  }
  const Stats stats = engine.stats();
  EXPECT_GT(stats.write_backs, 12u);
  EXPECT_LE(stats.devices[0].allocated, 4 * chunk);
}

TEST_P(OnDriver, ARangeOfNothingReadsAsZeros) {
  Engine engine(config(3));
  {
    auto dirt = engine.reserve<std::uint64_t>(6 * words_a_chunk);
    const Words words = contents(dirt.size(), 7);
    engine.load(dirt, 0, std::span(words));
  }
  auto range = engine.reserve<std::uint64_t>(8 * words_a_chunk);
  EXPECT_EQ(read_all(engine, range), Words(range.size(), 0));
}

TEST_P(OnDriver, PinnedContentsWrittenOnTheHostAreSeen) {
  Engine engine(config(3));
  auto range =
      engine.reserve<std::uint64_t>(7 * words_a_chunk + 3, {.name = "pinned", .backing = pinned()});
  const Words words = contents(range.size(), 3);
  std::copy(words.begin(), words.end(), engine.contents(range));
  EXPECT_EQ(read_all(engine, range), words);
  const Words changed = contents(range.size(), 4);
  engine.load(range, 0, std::span(changed));
  engine.flush(range);
  EXPECT_TRUE(std::equal(changed.begin(), changed.end(), engine.contents(range)));
}

TEST_P(OnDriver, AFileAtAnOddOffsetIsItsRange) {
  const auto path =
      std::filesystem::temp_directory_path() / ("holdall-both-" + std::string(GetParam()));
  const Words words = contents(5 * words_a_chunk + 11, 5);
  {
    std::ofstream out(path, std::ios::binary);
    out << "odd";
    out.write(reinterpret_cast<const char*>(words.data()), static_cast<long>(words.size() * 8));
  }
  Engine engine(config(3));
  auto range =
      engine.reserve<std::uint64_t>(words.size(), {.name = "file", .backing = file(path, 3)});
  EXPECT_EQ(read_all(engine, range), words);
  EXPECT_THROW((void)engine.acquire(engine.stream(), {write(range)}), InvalidAccess);
  std::filesystem::remove(path);
}

TEST_P(OnDriver, AFlushedFileHoldsWhatWasWritten) {
  const auto path =
      std::filesystem::temp_directory_path() / ("holdall-flush-" + std::string(GetParam()));
  std::filesystem::remove(path);
  const Words words = contents(5 * words_a_chunk + 11, 6);
  Engine engine(config(3));
  auto range =
      engine.reserve<std::uint64_t>(words.size(), {.name = "file", .backing = file(path, 0, true)});
  engine.load(range, 0, std::span(words));
  engine.flush(range);
  EXPECT_EQ(std::filesystem::file_size(path), words.size() * 8);
  Words on_disk(words.size());
  std::ifstream(path, std::ios::binary)
      .read(reinterpret_cast<char*>(on_disk.data()), static_cast<long>(on_disk.size() * 8));
  EXPECT_EQ(on_disk, words);
  std::filesystem::remove(path);
}

TEST_P(OnDriver, PassesCoverASetBiggerThanTheBudgetOnce) {
  Engine engine(config(5));
  auto range =
      engine.reserve<std::uint64_t>(17 * words_a_chunk, {.name = "swept", .backing = pinned()});
  const Stream stream = engine.stream();
  for (int sweep = 0; sweep < 3; ++sweep) {
    std::vector<int> seen(range.chunks(), 0);
    const Stats before = engine.stats();
    for (Passes passes = engine.passes(stream, {read(range)}); passes.next();)
      for (const Need& part : passes.parts())
        for (std::uint64_t i = 0; i < part.run.count; ++i) ++seen[part.run.first + i];
    EXPECT_EQ(seen, std::vector<int>(range.chunks(), 1));
    const Stats after = engine.stats();
    if (sweep > 0) {
      EXPECT_LE(after.faults - before.faults, range.chunks() - 4);
    }
  }
}

TEST_P(OnDriver, HostMappedChunksAreReadInPlaceAndPromoted) {
  Engine engine(config(3));
  Range<std::uint64_t> range;
  try {
    range = engine.reserve<std::uint64_t>(
        6 * words_a_chunk,
        {.name = "mapped", .backing = zeros(), .chunk = 0, .cold = Cold::host_mapped});
  } catch (const DriverError& e) {
    GTEST_SKIP() << "no host frames here: " << e.what();
  }
  const Words words = contents(range.size(), 8);
  std::copy(words.begin(), words.end(), engine.contents(range));
  const Stream stream = engine.stream();
  {
    const auto lease = engine.acquire(stream, {in_place(range)});
    Words copy(words_a_chunk);
    vmm::check(engine.driver().copy(copy.data(), range.data() + 2 * words_a_chunk, chunk, stream),
               "read in place");
    engine.synchronize(stream);
    EXPECT_TRUE(std::equal(copy.begin(), copy.end(), words.begin() + 2 * words_a_chunk));
  }
  EXPECT_EQ(engine.stats().faults, 0u);
  EXPECT_EQ(read_all(engine, range), words);
  EXPECT_GT(engine.stats().evictions, 0u);
  const Words changed = contents(range.size(), 9);
  engine.load(range, 0, std::span(changed));
  engine.flush(range);
  EXPECT_TRUE(std::equal(changed.begin(), changed.end(), engine.contents(range)));
}

TEST_P(OnDriver, ManyThreadsShareASmallBudget) {
  Engine engine(config(6));
  auto range = engine.reserve<std::uint64_t>(24 * words_a_chunk);
  const Words words = contents(range.size(), 1);
  engine.load(range, 0, std::span(words));
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&, t] {
      const Stream stream = engine.stream();
      Words copy(words_a_chunk);
      for (std::uint64_t i = 0; i < 60; ++i) {
        const std::uint64_t c = (i * 7 + static_cast<std::uint64_t>(t) * 5) % range.chunks();
        {
          const auto lease =
              engine.acquire(stream, {read(range, c * words_a_chunk, words_a_chunk)});
          vmm::check(
              engine.driver().copy(copy.data(), range.data() + c * words_a_chunk, chunk, stream),
              "read");
        }
        engine.synchronize(stream);
        wrong += !std::equal(copy.begin(), copy.end(),
                             words.begin() + static_cast<long>(c * words_a_chunk));
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(OnDriver, ReleaseBeforeQueuedWorkHasRunKeepsTheChunk) {
  Engine engine(config(2));
  auto range =
      engine.reserve<std::uint64_t>(6 * words_a_chunk, {.name = "queued", .backing = pinned()});
  const Words words = contents(range.size(), 2);
  std::copy(words.begin(), words.end(), engine.contents(range));
  const Stream slow = engine.stream(), fast = engine.stream();
  const auto copy = engine.host_array<std::uint64_t>(words_a_chunk, "a late read");
  std::atomic<bool> open{false};
  {
    const auto lease = engine.acquire(slow, {read(range, 0, words_a_chunk)});
    vmm::check(engine.driver().host_call(slow,
                                         [&] {
                                           while (!open) std::this_thread::yield();
                                         }),
               "gate");
    vmm::check(engine.driver().copy(copy.data(), range.data(), chunk, slow), "read late");
  }
  // One frame is left for the others while the queued copy keeps its chunk.
  for (std::uint64_t c = 1; c < 6; ++c) {
    const auto lease = engine.acquire(fast, {read(range, c * words_a_chunk, words_a_chunk)});
  }
  open = true;
  engine.synchronize(slow);
  EXPECT_TRUE(std::equal(copy.data(), copy.data() + copy.size(), words.begin()));
}

TEST_P(OnDriver, TheBudgetGrowsAndShrinksAndMemoryGoesBack) {
  Engine engine(config(8));
  auto range = engine.reserve<std::uint64_t>(16 * words_a_chunk);
  const Words words = contents(range.size(), 4);
  engine.load(range, 0, std::span(words));
  const Bytes free_when_full = engine.driver().info(0).free;
  engine.set_memory(0, 2 * chunk);
  EXPECT_LE(engine.stats().devices[0].allocated, 2 * chunk);
  EXPECT_GE(engine.driver().info(0).free, free_when_full + 4 * chunk);
  EXPECT_EQ(read_all(engine, range), words);
  engine.set_memory(0, 8 * chunk);
  EXPECT_EQ(read_all(engine, range), words);
}

TEST_P(OnDriver, TheElementsOfChunkRunsCoverTheRange) {
  struct Triple {
    std::uint32_t a, b, c;
  };
  Engine engine(config(4));
  const auto range = engine.reserve<Triple>(2 * chunk / sizeof(Triple) + 7);
  std::uint64_t next = 0;
  for (std::uint64_t c = 0; c < range.chunks(); ++c) {
    const auto [first, count] = range.elements({c, 1});
    EXPECT_EQ(first, next);
    EXPECT_GE(first * sizeof(Triple), c * chunk);
    next += count;
  }
  EXPECT_EQ(next, range.size());
  EXPECT_EQ(range.elements({0, range.chunks()}).count, range.size());
}

}  // namespace
}  // namespace holdall
