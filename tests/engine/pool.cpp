// Two devices as one pool, on GPUs where there are two and on the host driver: through copies alone.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "engine/engine.hpp"

namespace holdall {
namespace {

constexpr Bytes chunk = 2_MiB;
constexpr std::uint64_t words_a_chunk = chunk / 8;
using Words = Range<std::uint64_t>;

std::uint64_t word(std::uint64_t i, std::uint64_t version) {
  return (i + 1) * 0x9e3779b97f4a7c15 + version;
}

class Pool : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    std::string why;
    if (GetParam() != std::string("cuda")) return;
    if (!vmm::cuda_available(&why)) GTEST_SKIP() << "no GPU: " << why;
    const auto driver = vmm::make_cuda_driver();
    if (driver->devices() < 2) GTEST_SKIP() << "needs two GPUs";
    if (!driver->can_access_peer(0, 1)) GTEST_SKIP() << "needs GPUs that reach each other";
  }
  static Config config(std::uint64_t frames) {
    Config config;
    config.driver = GetParam();
    config.devices = 2;
    config.memory = frames * chunk;
    config.host_memory = 1_GiB;
    config.chunk = chunk;
    return config;
  }
  static Words range(Engine& engine, std::uint64_t chunks, const std::string& name) {
    return engine.reserve<std::uint64_t>(chunks * words_a_chunk, {.name = name});
  }
  static Access reading(const Words& r, std::uint64_t c, std::uint64_t n = 1) {
    return read(r, c * words_a_chunk, n * words_a_chunk);
  }
  static Access writing(const Words& r, std::uint64_t c, std::uint64_t n = 1) {
    return write(r, c * words_a_chunk, n * words_a_chunk);
  }
  // Chunk `c` is written, or found to hold, words of a version, by the device of `stream`.
  static void put(Engine& engine, Stream stream, const Words& r, std::uint64_t c, std::uint64_t version) {
    const auto words = engine.host_array<std::uint64_t>(words_a_chunk, "words to write");
    for (std::uint64_t i = 0; i < words_a_chunk; ++i) words.data()[i] = word(c * words_a_chunk + i, version);
    {
      const auto lease = engine.acquire(stream, {writing(r, c)});
      vmm::check(engine.driver().copy(r.data() + c * words_a_chunk, words.data(), chunk, stream), "write");
    }
    engine.synchronize(stream);
  }
  static std::uint64_t wrong(Engine& engine, Stream stream, const Words& r, std::uint64_t c,
                             std::uint64_t version) {
    const auto words = engine.host_array<std::uint64_t>(words_a_chunk, "words that were read");
    {
      const auto lease = engine.acquire(stream, {reading(r, c)});
      vmm::check(engine.driver().copy(words.data(), r.data() + c * words_a_chunk, chunk, stream), "read");
    }
    engine.synchronize(stream);
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < words_a_chunk; ++i)
      wrong += words.data()[i] != word(c * words_a_chunk + i, version);
    return wrong;
  }
};
INSTANTIATE_TEST_SUITE_P(Drivers, Pool, testing::Values("host", "cuda"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(Pool, EachDeviceTouchesEveryChunkOfTheOther) {
  Engine engine(config(8));
  const Words r = range(engine, 12, "shared");
  const Stream streams[2] = {engine.stream(0), engine.stream(1)};
  for (std::uint64_t c = 0; c < 12; ++c) put(engine, streams[c % 2], r, c, 1);
  const std::uint64_t faults = engine.stats().faults;
  for (std::uint64_t c = 0; c < 12; ++c)
    for (const Stream stream : streams) EXPECT_EQ(wrong(engine, stream, r, c, 1), 0u) << c;
  EXPECT_EQ(engine.stats().faults, faults) << "a chunk on the other device is a hit";
  for (std::uint64_t c = 0; c < 12; ++c) put(engine, streams[(c + 1) % 2], r, c, 2);
  for (std::uint64_t c = 0; c < 12; ++c) EXPECT_EQ(wrong(engine, streams[c % 2], r, c, 2), 0u) << c;
}

TEST_P(Pool, WhatOneDeviceEvictsGoesToTheOtherFirst) {
  Engine engine(config(8));
  const Words r = range(engine, 12, "moves");
  const Stream stream = engine.stream(0);
  for (std::uint64_t c = 0; c < 12; ++c) put(engine, stream, r, c, 3);
  const Stats stats = engine.stats();
  EXPECT_GE(stats.devices[0].moved_to_peers, 3u) << "the newest may have come to the other at once";
  EXPECT_EQ(stats.devices[1].resident, 4 * chunk);
  EXPECT_EQ(stats.write_backs, 0u) << "there was room in the pool, more than is kept free";
  for (std::uint64_t c = 0; c < 12; ++c) EXPECT_EQ(wrong(engine, stream, r, c, 3), 0u) << c;
}

TEST_P(Pool, APoolSmallerThanTheRangeWritesBackAndLosesNothing) {
  Engine engine(config(3));
  const Words r = range(engine, 16, "tight");
  const Stream streams[2] = {engine.stream(0), engine.stream(1)};
  for (std::uint64_t version = 1; version < 4; ++version) {
    for (std::uint64_t c = 0; c < 16; ++c) put(engine, streams[(c + version) % 2], r, c, version);
    for (std::uint64_t c = 0; c < 16; ++c)
      EXPECT_EQ(wrong(engine, streams[(c / 2) % 2], r, c, version), 0u) << c;
  }
  EXPECT_GT(engine.stats().write_backs, 0u);
  for (const DeviceStats& device : engine.stats().devices) EXPECT_LE(device.allocated, 3 * chunk);
}

TEST_P(Pool, AChunkStaysUntilBothDevicesAreDoneWithIt) {
  Engine engine(config(1));
  const Words r = range(engine, 4, "late");
  const Stream streams[2] = {engine.stream(0), engine.stream(1)};
  put(engine, streams[0], r, 0, 7);
  const auto words = engine.host_array<std::uint64_t>(words_a_chunk, "a late read");
  std::atomic<bool> open{false};
  {
    // Both have it; the one whose frame it is ends at once, the other is held up.
    const auto near = engine.acquire(streams[0], {reading(r, 0)});
    const auto far = engine.acquire(streams[1], {reading(r, 0)});
    vmm::check(engine.driver().host_call(streams[1],
                                         [&] {
                                           while (!open) std::this_thread::yield();
                                         }),
               "gate");
    vmm::check(engine.driver().copy(words.data(), r.data(), chunk, streams[1]), "read late");
  }
  engine.synchronize(streams[0]);
  for (std::uint64_t c = 1; c < 4; ++c) EXPECT_NO_THROW((void)engine.acquire(streams[0], {reading(r, c)}));
  open = true;
  engine.synchronize(streams[1]);
  for (std::uint64_t i = 0; i < words_a_chunk; ++i) ASSERT_EQ(words.data()[i], word(i, 7));
}

TEST_P(Pool, WhatADeviceWaitsForNeitherTakesFromTheOtherNorHoldsItUp) {
  Engine engine(config(2));
  const Words mine = range(engine, 3, "of the first");
  const Words others = range(engine, 2, "of the other");
  const Stream streams[2] = {engine.stream(0), engine.stream(1)};
  std::atomic<bool> open{false};
  {
    const auto busy = engine.acquire(streams[0], {reading(mine, 0, 2)});
    vmm::check(engine.driver().host_call(streams[0],
                                         [&] {
                                           while (!open) std::this_thread::yield();
                                         }),
               "gate");
  }
  EXPECT_NO_THROW((void)engine.acquire(streams[1], {reading(others, 0, 2)}));
  const std::uint64_t faults = engine.stats().faults;
  std::atomic<bool> got{false};
  std::jthread waiter([&] {
    EXPECT_NO_THROW((void)engine.acquire(streams[0], {reading(mine, 2)}));
    got = true;
  });
  // The other device goes on meanwhile, whether its chunks are there or not.
  for (int i = 0; i < 1000; ++i) EXPECT_NO_THROW((void)engine.acquire(streams[1], {reading(others, 0, 2)}));
  EXPECT_EQ(engine.stats().faults, faults) << "its chunks have stayed";
  EXPECT_FALSE(got);
  engine.synchronize(streams[1]);  // so that one can leave at once
  engine.set_memory(1, chunk);
  for (std::uint64_t c = 0; c < 8; ++c)
    EXPECT_NO_THROW((void)engine.acquire(streams[1], {reading(others, c % 2)}));
  EXPECT_GE(engine.stats().faults, faults + 7) << "each takes the place of the one before";
  EXPECT_FALSE(got);
  open = true;
  waiter.join();
  EXPECT_EQ(engine.stats().devices[0].resident, 2 * chunk);
  EXPECT_EQ(engine.stats().devices[1].resident, chunk);
}

TEST_P(Pool, ADeviceWithoutABudgetUsesTheOthers) {
  Engine engine(config(6));
  engine.set_memory(0, 0);
  const Words r = range(engine, 5, "elsewhere");
  const Stream stream = engine.stream(0);
  for (std::uint64_t c = 0; c < 5; ++c) put(engine, stream, r, c, 4);
  for (std::uint64_t c = 0; c < 5; ++c) EXPECT_EQ(wrong(engine, stream, r, c, 4), 0u);
  const Stats stats = engine.stats();
  EXPECT_EQ(stats.devices[0].resident, 0u);
  EXPECT_EQ(stats.devices[1].resident, 5 * chunk);
}

TEST_P(Pool, ASetBiggerThanOneDeviceIsLeasedAcrossBoth) {
  Engine engine(config(4));
  const Words r = range(engine, 7, "wide");
  const Stream stream = engine.stream(1);
  for (std::uint64_t c = 0; c < 7; ++c) put(engine, stream, r, c, 5);
  const auto words = engine.host_array<std::uint64_t>(7 * words_a_chunk, "all words");
  {
    const auto lease = engine.acquire(stream, {reading(r, 0, 7)});
    for (std::uint64_t c = 0; c < 7; ++c)
      vmm::check(engine.driver().copy(words.data() + c * words_a_chunk, r.data() + c * words_a_chunk, chunk, stream),
                 "read");
  }
  engine.synchronize(stream);
  for (std::uint64_t i = 0; i < 7 * words_a_chunk; ++i) ASSERT_EQ(words.data()[i], word(i, 5));
  const Words wider = range(engine, 9, "wider");
  EXPECT_THROW((void)engine.acquire(stream, {reading(wider, 0, 9)}), WorkingSetTooLarge);
}

TEST_P(Pool, ThreadsOnBothDevicesShareASmallBudget) {
  Engine engine(config(4));
  const Words r = range(engine, 20, "busy");
  for (std::uint64_t c = 0; c < 20; ++c) put(engine, engine.stream(0), r, c, 6);
  std::vector<std::thread> threads;
  std::atomic<std::uint64_t> bad{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const Stream stream = engine.stream(t % 2);
      for (std::uint64_t i = 0; i < 25; ++i)
        bad += wrong(engine, stream, r, (i * 7 + static_cast<std::uint64_t>(t) * 5) % 20, 6);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(bad, 0u);
}

}  // namespace
}  // namespace holdall
