// The contract of streams, events, copies and fills, over all drivers.
#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>

#include "tests/vmm/world.hpp"

namespace holdall::vmm {
namespace {

class Streams : public Contract {
 protected:
  Stream stream = world.stream;
  std::byte* at = world.reserve(2 * chunk);
  void SetUp() override {
    world.put(at, chunk);
    world.put(at + chunk, chunk);
    ASSERT_EQ(driver.create_stream(other, 0), ok);
    ASSERT_EQ(driver.create_event(event, 0), ok);
  }
  void TearDown() override {
    EXPECT_EQ(driver.destroy_stream(other), ok);
    EXPECT_EQ(driver.destroy_event(event), ok);
    world.drop(at, 2 * chunk);
  }
  Stream other;
  Event event;
};
INSTANTIATE_TEST_SUITE_P(Drivers, Streams, testing::ValuesIn(driver_names()), named);

TEST_P(Streams, WorkRunsInOrder) {
  std::vector<int> order;
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(driver.host_call(stream, [&order, i] { order.push_back(i); }), ok);
  world.finish();
  std::vector<int> expected(100);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
}

TEST_P(Streams, CopiesAndCallsAreInOrder) {
  PinnedWords words(driver, chunk);
  words[0] = 1;
  std::uint64_t seen = 0;
  ASSERT_EQ(driver.copy(at, words.data(), 8, stream), ok);
  ASSERT_EQ(driver.host_call(stream, [&] { words[0] = 2; }), ok);
  ASSERT_EQ(driver.copy(at + 8, words.data(), 8, stream), ok);
  ASSERT_EQ(driver.copy(words.data() + 1, at, 16, stream), ok);
  ASSERT_EQ(driver.host_call(stream, [&] { seen = words[1] * 10 + words[2]; }), ok);
  world.finish();
  EXPECT_EQ(seen, 12u);
}

TEST_P(Streams, AHeldStreamDoesNotHoldAnother) {
  Gate gate;
  ASSERT_EQ(driver.host_call(stream, gate.held()), ok);
  ASSERT_EQ(driver.record(event, stream), ok);
  EXPECT_EQ(driver.query(event), Status::not_ready);
  PinnedWords words(driver, chunk);
  ASSERT_EQ(driver.copy(at, words.data(), chunk, other), ok);
  EXPECT_EQ(driver.synchronize(other), ok);
  EXPECT_EQ(driver.query(event), Status::not_ready);
  gate.open();
  EXPECT_EQ(driver.synchronize(event), ok);
  EXPECT_EQ(driver.query(event), ok);
}

TEST_P(Streams, AnEventThatWasNeverRecordedHasPassed) {
  EXPECT_EQ(driver.query(event), ok);
  EXPECT_EQ(driver.synchronize(event), ok);
  EXPECT_EQ(driver.wait(stream, event), ok);
  world.finish();
}

TEST_P(Streams, AStreamWaitsForAnEventOfAnother) {
  Gate gate;
  std::atomic<bool> first_done = false;
  bool in_order = false;
  ASSERT_EQ(driver.host_call(stream, gate.held()), ok);
  ASSERT_EQ(driver.host_call(stream, [&] { first_done = true; }), ok);
  ASSERT_EQ(driver.record(event, stream), ok);
  ASSERT_EQ(driver.wait(other, event), ok);
  ASSERT_EQ(driver.host_call(other, [&] { in_order = first_done; }), ok);
  gate.open();
  ASSERT_EQ(driver.synchronize(other), ok);
  EXPECT_TRUE(in_order);
}

TEST_P(Streams, AWaitIsForTheRecordThatWasNewestThen) {
  Gate early;
  Gate late;
  Stream third;
  ASSERT_EQ(driver.create_stream(third, 0), ok);
  ASSERT_EQ(driver.host_call(stream, early.held()), ok);
  ASSERT_EQ(driver.record(event, stream), ok);
  ASSERT_EQ(driver.wait(other, event), ok);
  ASSERT_EQ(driver.host_call(third, late.held()), ok);
  ASSERT_EQ(driver.record(event, third), ok);
  early.open();
  EXPECT_EQ(driver.synchronize(other), ok) << "it doesn't wait for the second record";
  EXPECT_EQ(driver.query(event), Status::not_ready) << "the event stands for its newest record";
  late.open();
  EXPECT_EQ(driver.synchronize(event), ok);
  EXPECT_EQ(driver.destroy_stream(third), ok);
}

TEST_P(Streams, AnEventMayBeDestroyedWhileAStreamWaitsForIt) {
  Gate gate;
  Event brief;
  ASSERT_EQ(driver.create_event(brief, 0), ok);
  ASSERT_EQ(driver.host_call(stream, gate.held()), ok);
  ASSERT_EQ(driver.record(brief, stream), ok);
  ASSERT_EQ(driver.wait(other, brief), ok);
  EXPECT_EQ(driver.destroy_event(brief), ok);
  gate.open();
  EXPECT_EQ(driver.synchronize(other), ok);
}

TEST_P(Streams, AStreamFinishesItsWorkBeforeItIsGone) {
  Stream brief;
  std::atomic<int> ran = 0;
  ASSERT_EQ(driver.create_stream(brief, 0), ok);
  for (int i = 0; i < 10; ++i) ASSERT_EQ(driver.host_call(brief, [&] { ++ran; }), ok);
  EXPECT_EQ(driver.destroy_stream(brief), ok);
  EXPECT_EQ(ran, 10);
}

TEST_P(Streams, AStreamKnowsItsDevice) {
  int index = -1;
  bool capturing = true;
  EXPECT_EQ(driver.device_of(stream, index), ok);
  EXPECT_EQ(index, 0);
  EXPECT_EQ(driver.is_capturing(stream, capturing), ok);
  EXPECT_FALSE(capturing);
}

TEST_P(Streams, ABatchOfAThousandCopiesArrives) {
  constexpr std::size_t n = 1000;
  constexpr Bytes each = 512;
  PinnedWords out(driver, n * each);
  PinnedWords back(driver, n * each);
  for (std::size_t i = 0; auto& word : out) word = 7 * i++;
  std::vector<Copy> in;
  std::vector<Copy> home;
  for (std::size_t i = 0; i < n; ++i) {
    std::byte* place = at + (n - 1 - i) * 2 * each;  // backwards and spread
    in.push_back({place, out.data() + i * each / 8, each});
    home.push_back({back.data() + i * each / 8, place, each});
  }
  ASSERT_EQ(driver.copy(in, stream), ok);
  ASSERT_EQ(driver.copy(home, stream), ok);
  world.finish();
  EXPECT_TRUE(std::equal(out.begin(), out.end(), back.begin()));
}

TEST_P(Streams, ACopyOfNothingIsFine) {
  EXPECT_EQ(driver.copy({}, stream), ok);
  world.finish();
}

TEST_P(Streams, ChunksAreCopiedWithinTheDevice) {
  world.write_words(at, chunk, 99);
  ASSERT_EQ(driver.copy(at + chunk, at, chunk, stream), ok);
  EXPECT_EQ(world.mismatches(at + chunk, chunk, 99), 0u);
}

TEST_P(Streams, FillSetsBytes) {
  ASSERT_EQ(driver.fill(at, 0xa5, chunk, stream), ok);
  ASSERT_EQ(driver.fill(at + 1, 0x11, 1, stream), ok);
  PinnedWords words(driver, chunk);
  ASSERT_EQ(driver.copy(words.data(), at, chunk, stream), ok);
  world.finish();
  EXPECT_EQ(words[0], 0xa5a5a5a5a5a511a5u);
  for (std::size_t i = 1; i < chunk / 8; ++i) ASSERT_EQ(words[i], 0xa5a5a5a5a5a5a5a5u);
}

TEST_P(Streams, MappingsElsewhereWaitForNoStream) {
  Gate gate;
  ASSERT_EQ(driver.host_call(stream, gate.held()), ok);
  std::byte* elsewhere = world.reserve(chunk);
  world.put(elsewhere, chunk);
  world.drop(elsewhere, chunk);
  gate.open();
  world.finish();
}

TEST_P(Streams, AFrameMayBeReleasedWhileWorkOnItIsQueued) {
  PinnedWords words(driver, chunk);
  ASSERT_EQ(driver.fill(at, 0x33, chunk, stream), ok);
  ASSERT_EQ(
      driver.host_call(stream, [] { std::this_thread::sleep_for(std::chrono::milliseconds(200)); }),
      ok);
  const Frame frame = world.frame(chunk);
  std::byte* elsewhere = world.reserve(chunk);
  ASSERT_EQ(driver.map(elsewhere, chunk, frame), ok);
  ASSERT_EQ(driver.set_access(elsewhere, chunk, {{World::place}}), ok);
  ASSERT_EQ(driver.copy(elsewhere, at, chunk, stream), ok);
  ASSERT_EQ(driver.copy(words.data(), elsewhere, chunk, stream), ok);
  ASSERT_EQ(driver.release(frame), ok) << "the memory goes with the last unmap, not with this";
  world.finish();
  for (const auto word : words) ASSERT_EQ(word, 0x3333333333333333u);
  world.drop(elsewhere, chunk);
}

TEST_P(Streams, ACopyOverDifferentPlacesIsRefused) {
  if (!on_host()) GTEST_SKIP() << "CUDA ends the process";
  std::byte* mixed = world.reserve(2 * chunk);
  world.put(mixed, chunk);
  const Frame frame = world.frame(chunk, {Place::host, 0});
  ASSERT_EQ(driver.map(mixed + chunk, chunk, frame), ok);
  ASSERT_EQ(driver.set_access(mixed + chunk, chunk, {{World::place}}), ok);
  ASSERT_EQ(driver.release(frame), ok);
  PinnedWords words(driver, 2 * chunk);
  EXPECT_EQ(driver.copy(mixed, words.data(), 2 * chunk, stream), Status::invalid_value);
  EXPECT_EQ(driver.copy(words.data(), mixed, 2 * chunk, stream), Status::invalid_value);
  EXPECT_EQ(driver.fill(mixed, 0, 2 * chunk, stream), Status::invalid_value);
  EXPECT_EQ(driver.copy(mixed, words.data(), chunk, stream), ok);
  EXPECT_EQ(driver.copy(mixed + chunk, words.data(), chunk, stream), ok);
  world.finish();
  world.drop(mixed, 2 * chunk);
}

}  // namespace
}  // namespace holdall::vmm
