// Who does the work of a stream of the host driver: its worker, or who waits for it.
#include <atomic>
#include <thread>

#include "tests/vmm/world.hpp"

namespace holdall::vmm {
namespace {

class HostStreams : public Host {
 protected:
  void SetUp() override {
    ASSERT_EQ(driver.create_stream(stream, 0), ok);
    ASSERT_EQ(driver.create_stream(other, 0), ok);
    ASSERT_EQ(driver.create_event(event, 0), ok);
  }
  void TearDown() override {
    EXPECT_EQ(driver.destroy_stream(stream), ok);
    EXPECT_EQ(driver.destroy_stream(other), ok);
    EXPECT_EQ(driver.destroy_event(event), ok);
  }
  // Tells which thread it ran on.
  void post() {
    ASSERT_EQ(driver.host_call(stream, [this] { ran_on = std::this_thread::get_id(); }), ok);
  }
  bool ran() const { return ran_on.load() != std::thread::id(); }

  Stream stream, other;
  Event event;
  std::atomic<std::thread::id> ran_on{};
};

TEST_F(HostStreams, WhoWaitsDoesWorkThatIsNotHurried) {
  const Unhurried by_hand(stream);
  post();
  ASSERT_EQ(driver.synchronize(stream), ok);
  EXPECT_EQ(ran_on.load(), std::this_thread::get_id());
}

TEST_F(HostStreams, WorkThatNobodyWaitsForIsDoneByTheWorker) {
  post();
  while (!ran()) std::this_thread::yield();
  EXPECT_NE(ran_on.load(), std::this_thread::get_id());
}

TEST_F(HostStreams, WhatLiesThereIsDoneAfterTheLastHold) {
  {
    const Unhurried outer(stream);
    {
      const Unhurried inner(stream);
      post();
    }
    EXPECT_FALSE(ran());
  }
  while (!ran()) std::this_thread::yield();
}

TEST_F(HostStreams, WhoAsksForAnEventHurriesTheWorkBeforeIt) {
  const Unhurried by_hand(stream);
  post();
  ASSERT_EQ(driver.record(event, stream), ok);
  while (driver.query(event) == Status::not_ready) std::this_thread::yield();
  EXPECT_TRUE(ran());
  EXPECT_NE(ran_on.load(), std::this_thread::get_id());
}

TEST_F(HostStreams, AStreamThatWaitsForAnEventHurriesTheWorkBeforeIt) {
  const Unhurried by_hand(stream);
  post();
  ASSERT_EQ(driver.record(event, stream), ok);
  ASSERT_EQ(driver.wait(other, event), ok);
  ASSERT_EQ(driver.synchronize(other), ok);
  EXPECT_TRUE(ran());
}

TEST_F(HostStreams, WorkThatComesWhileAnotherWaitsIsDone) {
  Gate gate;
  std::atomic<bool> begun = false;
  const auto hold = gate.held();
  std::thread waits;
  {
    const Unhurried by_hand(stream);
    ASSERT_EQ(driver.host_call(stream,
                               [&] {
                                 begun = true;
                                 hold();
                               }),
              ok);
    waits = std::thread([&] { EXPECT_EQ(driver.synchronize(stream), ok); });
    while (!begun) std::this_thread::yield();
  }
  post();  // behind what the other thread is at
  gate.open();
  waits.join();
  while (!ran()) std::this_thread::yield();
}

TEST_F(Host, AFaultOnTheThreadThatWaitsIsTheStreamsToo) {
  std::byte* const nowhere = world.reserve(chunk);
  const Unhurried by_hand(world.stream);
  launch(world.stream, [=] { *nowhere = std::byte{1}; });
  world.expect_lost();
  EXPECT_EQ(world.fault(),
            "write of an unmapped or ungranted address in 'demo' + 0 bytes by stream 1");
}

}  // namespace
}  // namespace holdall::vmm
