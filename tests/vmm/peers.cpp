// The contract of devices that reach each other, over all drivers that have two of them.
#include "tests/vmm/world.hpp"

namespace holdall::vmm {
namespace {

std::unique_ptr<Driver> make_pair(const std::string& name) {
  if (name == "cuda") return make_cuda_driver();
  return make_host_driver({.devices = 2, .capacity = 256_MiB});
}

class Peers : public testing::TestWithParam<std::string> {
 protected:
  World world{make_pair(GetParam())};
  Driver& driver = *world.driver;
  const Bytes chunk = world.chunk;
  Place places[2] = {{Place::device, 0}, {Place::device, 1}};
  Stream streams[2];

  void SetUp() override {
    if (driver.devices() < 2 || !driver.can_access_peer(0, 1) || !driver.can_access_peer(1, 0))
      GTEST_SKIP() << "needs two devices that reach each other";
    for (int d = 0; d < 2; ++d) ASSERT_EQ(driver.create_stream(streams[d], d), ok);
  }
  void TearDown() override {
    for (const Stream stream : streams)
      if (stream != Stream()) {
        EXPECT_EQ(driver.destroy_stream(stream), ok);
      }
  }
  // A new frame of device `home` at `at`, for both to touch.
  void put(std::byte* at, int home) {
    const Frame made = world.frame(chunk, places[home]);
    ASSERT_EQ(driver.map(at, chunk, made), ok);
    ASSERT_EQ(driver.set_access(at, chunk, {{places[0]}, {places[1]}}), ok);
    ASSERT_EQ(driver.release(made), ok);
  }
};
INSTANTIATE_TEST_SUITE_P(Drivers, Peers, testing::ValuesIn(driver_names()), named);

TEST_P(Peers, WhatOneWritesTheOtherReads) {
  std::byte* at = world.reserve(2 * chunk);
  PinnedWords out(driver, chunk), in(driver, chunk);
  for (int home = 0; home < 2; ++home) put(at + chunk_of(home), home);
  for (int home = 0; home < 2; ++home)
    for (int writer = 0; writer < 2; ++writer) {
      for (std::size_t i = 0; i < chunk / 8; ++i) out[i] = i * 3 + static_cast<std::size_t>(2 * home + writer);
      ASSERT_EQ(driver.copy(at + chunk_of(home), out.data(), chunk, streams[writer]), ok);
      ASSERT_EQ(driver.synchronize(streams[writer]), ok);
      ASSERT_EQ(driver.copy(in.data(), at + chunk_of(home), chunk, streams[1 - writer]), ok);
      ASSERT_EQ(driver.synchronize(streams[1 - writer]), ok);
      EXPECT_TRUE(std::equal(in.begin(), in.end(), out.begin())) << "home " << home << ", writer " << writer;
    }
  world.drop(at, 2 * chunk);
}

TEST_P(Peers, FramesAreCopiedFromOneToTheOther) {
  std::byte* at = world.reserve(2 * chunk);
  for (int home = 0; home < 2; ++home) put(at + chunk_of(home), home);
  for (int from = 0; from < 2; ++from) {
    world.write_words(at + chunk_of(from), chunk, 100 * static_cast<std::uint64_t>(from) + 1);
    ASSERT_EQ(driver.copy(at + chunk_of(1 - from), at + chunk_of(from), chunk, streams[from]), ok);
    ASSERT_EQ(driver.synchronize(streams[from]), ok);
    EXPECT_EQ(world.mismatches(at + chunk_of(1 - from), chunk, 100 * static_cast<std::uint64_t>(from) + 1), 0u);
  }
  world.drop(at, 2 * chunk);
}

TEST_P(Peers, NeighboursOnDifferentDevicesAreGrantedAndUnmappedTogether) {
  std::byte* at = world.reserve(4 * chunk);
  for (int i = 0; i < 4; ++i) {
    const Frame made = world.frame(chunk, places[i % 2]);
    ASSERT_EQ(driver.map(at + chunk_of(i), chunk, made), ok);
    ASSERT_EQ(driver.release(made), ok);
  }
  ASSERT_EQ(driver.set_access(at, 4 * chunk, {{places[0]}, {places[1]}}), ok);
  for (int i = 0; i < 4; ++i) world.write_words(at + chunk_of(i), chunk, static_cast<std::uint64_t>(i));
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(world.mismatches(at + chunk_of(i), chunk, static_cast<std::uint64_t>(i)), 0u);
  world.drop(at, 4 * chunk);
}

TEST_P(Peers, AnEventOfOneOrdersTheOther) {
  std::byte* at = world.reserve(chunk);
  put(at, 1);
  PinnedWords out(driver, chunk), in(driver, chunk);
  for (std::size_t i = 0; i < chunk / 8; ++i) out[i] = i ^ 5;
  Gate gate;
  Event event;
  ASSERT_EQ(driver.create_event(event, 1), ok);
  ASSERT_EQ(driver.host_call(streams[1], gate.held()), ok);
  ASSERT_EQ(driver.copy(at, out.data(), chunk, streams[1]), ok);
  ASSERT_EQ(driver.record(event, streams[1]), ok);
  ASSERT_EQ(driver.wait(streams[0], event), ok);
  ASSERT_EQ(driver.copy(in.data(), at, chunk, streams[0]), ok);
  EXPECT_EQ(driver.query(event), Status::not_ready);
  gate.open();
  ASSERT_EQ(driver.synchronize(streams[0]), ok);
  EXPECT_TRUE(std::equal(in.begin(), in.end(), out.begin()));
  ASSERT_EQ(driver.destroy_event(event), ok);
  world.drop(at, chunk);
}

TEST_P(Peers, AFullDeviceDoesNotTouchTheOther) {
  Frame frame{};
  const Bytes total = driver.info(0).total;
  EXPECT_EQ(driver.create(frame, round_up(total, chunk) + chunk, places[0]), Status::out_of_memory);
  EXPECT_EQ(driver.health(0), ok);
  EXPECT_EQ(driver.health(1), ok);
  ASSERT_EQ(driver.create(frame, chunk, places[1]), ok);
  EXPECT_EQ(driver.release(frame), ok);
}

}  // namespace
}  // namespace holdall::vmm
