// What loses a device, over all drivers. Each loss happens in a child process, since a CUDA context
// does not come back.
#include <cstdio>

#include "tests/vmm/world.hpp"

namespace holdall::vmm {
namespace {

class Losses : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};
INSTANTIATE_TEST_SUITE_P(Drivers, Losses, testing::ValuesIn(driver_names()), named);

// Ends the process: with 0 if device 0 is lost once the stream is done, and its calls say so. CUDA
// may also refuse at once, with `status`, what it can see to be wrong.
[[noreturn]] void exit_if_lost(World& world, Status status) {
  Driver& driver = *world.driver;
  const bool on_host = driver.name() == "host";
  if (!on_host && status == Status::invalid_value) std::_Exit(0);
  const Status waited = driver.synchronize(world.stream);
  bool all_say_so = waited == Status::illegal_address &&
                    driver.health(0) == Status::illegal_address && driver.fault(0).has_value() &&
                    driver.host_call(world.stream, [] {}) == Status::illegal_address;
  if (on_host) {
    Event event;
    Frame frame{};
    Stream stream;
    all_say_so = all_say_so && driver.create_event(event, 0) == Status::illegal_address &&
                 driver.create(frame, world.chunk, World::place) == Status::illegal_address &&
                 driver.create_stream(stream, 0) == Status::illegal_address;
  }
  std::fprintf(stderr, "%s\n", driver.fault(0) ? driver.fault(0)->what.c_str() : "no fault");
  std::_Exit(all_say_so ? 0 : 1);
}

TEST_P(Losses, ACopyToAnUnmappedAddress) {
  if (GetParam() != "host") GTEST_SKIP() << "CUDA takes the address for the host's and ends the process";
  EXPECT_EXIT(
      {
        World world(make_driver(GetParam()));
        std::byte* at = world.reserve(world.chunk);
        PinnedWords words(*world.driver, world.chunk);
        exit_if_lost(world, world.driver->copy(at, words.data(), 8, world.stream));
      },
      testing::ExitedWithCode(0), "");
}

TEST_P(Losses, ACopyBeforeAccessIsGranted) {
  EXPECT_EXIT(
      {
        World world(make_driver(GetParam()));
        std::byte* at = world.reserve(world.chunk);
        PinnedWords words(*world.driver, world.chunk);
        (void)world.driver->map(at, world.chunk, world.frame(world.chunk));
        exit_if_lost(world, world.driver->copy(at, words.data(), 8, world.stream));
      },
      testing::ExitedWithCode(0), "");
}

TEST_P(Losses, AFillOfReadOnlyMemory) {
  EXPECT_EXIT(
      {
        World world(make_driver(GetParam()));
        std::byte* at = world.reserve(world.chunk);
        world.put(at, world.chunk, Protection::read);
        exit_if_lost(world, world.driver->fill(at, 1, world.chunk, world.stream));
      },
      testing::ExitedWithCode(0), "");
}

TEST_P(Losses, AnUnmapUnderAQueuedCopy) {
  EXPECT_EXIT(
      {
        World world(make_driver(GetParam()));
        std::byte* at = world.reserve(world.chunk);
        world.put(at, world.chunk);
        PinnedWords words(*world.driver, world.chunk);
        Gate gate;
        (void)world.driver->host_call(world.stream, gate.held());
        (void)world.driver->copy(at, words.data(), world.chunk, world.stream);
        (void)world.driver->unmap(at, world.chunk);
        gate.open();
        exit_if_lost(world, ok);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace holdall::vmm
