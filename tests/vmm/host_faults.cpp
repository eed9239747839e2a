// Faults on the host driver: what is caught, whom it is charged to, what is said, what goes on.
#include <tbb/parallel_for.h>

#include <csignal>
#include <stdexcept>

#include "engine/vmm/error.hpp"
#include "tests/vmm/world.hpp"

namespace holdall::vmm {
namespace {

constexpr Place device{Place::device, 0};

TEST_F(Host, AKernelRunsOnGrantedMemory) {
  std::byte* at = world.reserve(chunk);
  world.put(at, chunk);
  auto* words = reinterpret_cast<std::uint64_t*>(at);
  launch(world.stream, [=] {
    tbb::parallel_for(std::size_t{0}, std::size_t{2_MiB / 8}, [=](std::size_t i) { words[i] = i; });
  });
  world.finish();
  EXPECT_EQ(world.mismatches(at, chunk, 0), 0u);
}

TEST_F(Host, AWriteByAKernelOfAnUnmappedAddressIsToldWithRangeOffsetAndStream) {
  std::byte* at = world.reserve(4 * chunk);
  world.put(at, chunk);
  launch(world.stream, [=] { at[3_MiB + 5] = std::byte{1}; });
  world.expect_lost();
  EXPECT_EQ(world.fault(),
            "write of an unmapped or ungranted address in 'demo' + 3145733 bytes by stream 1");
  EXPECT_EQ(driver.fault(0)->address, at + 3_MiB + 5);
}

TEST_F(Host, AReadIsToldAsARead) {
  std::byte* at = world.reserve(chunk);
  std::byte seen{1};
  launch(world.stream, [=, &seen] { seen = *static_cast<volatile std::byte*>(at); });
  world.expect_lost();
  EXPECT_EQ(world.fault(),
            "read of an unmapped or ungranted address in 'demo' + 0 bytes by stream 1");
  EXPECT_EQ(seen, std::byte{0}) << "scratch memory reads as zeros";
}

TEST_F(Host, AMappedAddressThatWasNotGrantedIsAFaultToo) {
  std::byte* at = world.reserve(chunk);
  ASSERT_EQ(driver.map(at, chunk, world.frame(chunk)), ok);
  launch(world.stream, [=] { *at = std::byte{1}; });
  world.expect_lost();
}

TEST_F(Host, ATouchByAnyTbbWorkerIsChargedToTheStream) {
  std::byte* at = world.reserve(64 * chunk);
  launch(world.stream, [=] {
    tbb::parallel_for(std::size_t{0}, std::size_t{64},
                      [=](std::size_t i) { at[i * 2_MiB] = std::byte{1}; });
  });
  world.expect_lost();
  EXPECT_NE(world.fault().find("by stream 1"), std::string::npos) << world.fault();
}

TEST_F(Host, AWriteToReadOnlyMemoryIsCaughtAndChangesNothing) {
  std::byte* at = world.reserve(chunk);
  world.put(at, chunk);
  world.write_words(at, chunk, 50);
  ASSERT_EQ(driver.set_access(at, chunk, {{device, Protection::read}}), ok);
  std::uint64_t next = 0;
  launch(world.stream, [=, &next] {
    auto* words = reinterpret_cast<std::uint64_t*>(at);
    words[0] = 1;
    next = words[1];
  });
  world.expect_lost();
  EXPECT_EQ(world.fault(), "write of a read-only address in 'demo' + 0 bytes by stream 1");
  EXPECT_EQ(next, 51u) << "the kernel goes on with what the frame held";
  EXPECT_EQ(*reinterpret_cast<std::uint64_t*>(at), 50u);
}

TEST_F(Host, ALostDeviceLeavesTheOthersAlone) {
  HostWorld two({.devices = 2, .capacity = 64_MiB});
  Stream other;
  ASSERT_EQ(two.driver->create_stream(other, 1), ok);
  std::byte* at = two.reserve(2 * chunk);
  launch(two.stream, [=] { *at = std::byte{1}; });
  two.expect_lost();
  EXPECT_EQ(two.driver->health(1), ok);
  bool ran = false;
  EXPECT_EQ(two.driver->host_call(other, [&] { ran = true; }), ok);
  EXPECT_EQ(two.driver->synchronize(other), ok);
  EXPECT_TRUE(ran);

  // The scratch memory is gone with the kernel: the same address is a fault for the other, too.
  launch(other, [=] { *at = std::byte{1}; });
  EXPECT_EQ(two.driver->synchronize(other), Status::illegal_address);
  EXPECT_NE(two.fault(1).find("by stream 2"), std::string::npos) << two.fault(1);
}

TEST_F(Host, TheFirstFaultStays) {
  std::byte* at = world.reserve(2 * chunk);
  launch(world.stream, [=] {
    at[chunk_of(1)] = std::byte{1};
    at[0] = std::byte{1};
  });
  world.expect_lost();
  EXPECT_EQ(driver.fault(0)->address, at + chunk);
}

TEST_F(Host, ALostDeviceTakesNoKernel) {
  std::byte* at = world.reserve(chunk);
  launch(world.stream, [=] { *at = std::byte{1}; });
  world.expect_lost();
  EXPECT_THROW(launch(world.stream, [] {}), DriverError);
  EXPECT_THROW(launch(Stream(), [] {}), DriverError);
}

TEST_F(Host, WorkBehindAFaultDoesNotRun) {
  Gate gate;
  std::byte* at = world.reserve(chunk);
  bool ran = false;
  ASSERT_EQ(driver.host_call(world.stream, gate.held()), ok);
  launch(world.stream, [=] { *at = std::byte{1}; });
  ASSERT_EQ(driver.host_call(world.stream, [&] { ran = true; }), ok);
  gate.open();
  world.expect_lost();
  EXPECT_FALSE(ran);
}

TEST_F(Host, AnExceptionLosesTheDevice) {
  launch(world.stream, [] { throw std::runtime_error("diverged"); });
  world.expect_lost();
  EXPECT_EQ(world.fault(), "a kernel of stream 1 threw: diverged");
}

TEST_F(Host, AnUnmapUnderARunningKernelIsCaughtByItsTouch) {
  std::byte* at = world.reserve(chunk);
  world.put(at, chunk);
  Gate gate;
  launch(world.stream, [=, held = gate.held()] {
    *at = std::byte{1};
    held();
    *at = std::byte{2};
  });
  ASSERT_EQ(driver.unmap(at, chunk), ok);
  gate.open();
  world.expect_lost();
}

TEST_F(Host, AnUnmapUnderACopyInFlightIsToldAtOnce) {
  std::byte* at = world.reserve(4 * chunk);
  world.put(at + chunk, 2 * chunk);
  PinnedWords words(driver, chunk);
  Gate gate;
  ASSERT_EQ(driver.host_call(world.stream, gate.held()), ok);
  ASSERT_EQ(driver.copy(at + 2 * chunk, words.data(), chunk, world.stream), ok);
  ASSERT_EQ(driver.unmap(at + chunk, 2 * chunk), ok);
  EXPECT_EQ(driver.health(0), Status::illegal_address);
  EXPECT_EQ(world.fault(),
            "unmap of 'demo' + 2097152 bytes (4194304 bytes) under a copy in flight on stream 1");
  gate.open();
  world.expect_lost();
}

TEST_F(Host, AnUnmapBesideACopyInFlightIsFine) {
  std::byte* at = world.reserve(3 * chunk);
  for (int i = 0; i < 3; ++i) world.put(at + chunk_of(i), chunk);
  PinnedWords words(driver, chunk);
  Gate gate;
  ASSERT_EQ(driver.host_call(world.stream, gate.held()), ok);
  ASSERT_EQ(driver.copy(at + chunk, words.data(), chunk, world.stream), ok);
  ASSERT_EQ(driver.unmap(at, chunk), ok);
  ASSERT_EQ(driver.unmap(at + 2 * chunk, chunk), ok);
  gate.open();
  world.finish();
  ASSERT_EQ(driver.unmap(at + chunk, chunk), ok);
  EXPECT_EQ(driver.health(0), ok);
}

TEST_F(Host, ATouchByAThreadThatRunsNoStreamWorkIsACrash) {
  std::byte* at = world.reserve(chunk);
  EXPECT_DEATH(*static_cast<volatile std::byte*>(at) = std::byte{1}, "");
}

TEST(Handler, AFaultThatIsNotOursGoesToWhoeverHandledItBefore) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        std::signal(SIGSEGV, [](int) { std::_Exit(42); });
        HostWorld world;
        *static_cast<volatile std::byte*>(world.reserve(2_MiB)) = std::byte{1};
      },
      testing::ExitedWithCode(42), "");
}

TEST_F(Host, AFaultOutsideEveryReservationIsACrash) {
  volatile int* volatile nowhere = nullptr;
  EXPECT_DEATH(
      {
        launch(world.stream, [=] { *nowhere = 1; });
        (void)driver.synchronize(world.stream);
      },
      "");
}

}  // namespace
}  // namespace holdall::vmm
