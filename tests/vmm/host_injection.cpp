// What tests can make go wrong or slow in the host driver.
#include "engine/vmm/host/injection.hpp"

#include <algorithm>
#include <chrono>

#include "tests/vmm/world.hpp"

namespace holdall::vmm {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

class Injected : public Host {
 protected:
  std::byte* at = world.reserve(4 * chunk);
  PinnedWords words{driver, chunk};
  Event event;
  void SetUp() override {
    world.put(at, chunk);
    ASSERT_EQ(driver.create_event(event, 0), ok);
  }

  // Makes the call that `call` names, in a way that succeeds.
  Status make(Call call) {
    switch (call) {
      case Call::reserve: {
        std::byte* other = nullptr;
        return driver.reserve(other, chunk, 0, "other");
      }
      case Call::create: {
        Frame frame{};
        return driver.create(frame, chunk, World::place);
      }
      case Call::release:
        return driver.release(world.frame(chunk));
      case Call::map:
        next_ += chunk;
        return driver.map(at + next_, chunk, world.frame(chunk));
      case Call::set_access:
        return driver.set_access(at, chunk, {{World::place}});
      case Call::unmap: {
        const Status status = driver.unmap(at, chunk);
        if (status == ok) world.put(at, chunk);
        return status;
      }
      case Call::pin: {
        std::vector<std::byte> room(8192);
        void* page =
            reinterpret_cast<void*>(round_up(reinterpret_cast<std::uintptr_t>(room.data()), 4096));
        const Status status = driver.pin(page, 4096);
        return status == ok ? driver.unpin(page) : status;
      }
      case Call::copy:
        return driver.copy(at, words.data(), 8, world.stream);
      case Call::fill:
        return driver.fill(at, 0, 8, world.stream);
      case Call::record:
        return driver.record(event, world.stream);
      case Call::wait:
        return driver.wait(world.stream, event);
      case Call::query:
        world.finish();
        return driver.query(event);
      case Call::synchronize:
        return driver.synchronize(world.stream);
      case Call::host_call:
        return driver.host_call(world.stream, [] {});
    }
    return Status::unknown;
  }

 private:
  Bytes next_ = 0;
};

constexpr Call all_calls[] = {Call::reserve,     Call::create,   Call::release, Call::map,
                              Call::set_access,  Call::unmap,    Call::pin,     Call::copy,
                              Call::fill,        Call::record,   Call::wait,    Call::query,
                              Call::synchronize, Call::host_call};

TEST_F(Injected, EveryKindOfCallFailsOnceAsToldAndThenWorks) {
  for (const Call call : all_calls) {
    host.inject({.call = call, .status = Status::not_ready});
    EXPECT_EQ(make(call), Status::not_ready) << static_cast<int>(call);
    EXPECT_EQ(make(call), ok) << static_cast<int>(call);
  }
  EXPECT_EQ(driver.health(0), ok);
}

TEST_F(Injected, AFailedCallDoesNothing) {
  const auto mapped = host.mapped(at, 4 * chunk);
  const auto frames = host.frames();
  host.inject({.call = Call::unmap, .status = Status::unknown});
  host.inject({.call = Call::create, .status = Status::out_of_memory});
  EXPECT_EQ(make(Call::unmap), Status::unknown);
  EXPECT_EQ(make(Call::create), Status::out_of_memory);
  EXPECT_EQ(host.mapped(at, 4 * chunk), mapped);
  EXPECT_EQ(host.frames(), frames);
}

TEST_F(Injected, TheNthCallAndSomeAfterItFail) {
  host.inject({.call = Call::set_access, .nth = 3, .times = 2, .status = Status::not_ready});
  std::vector<Status> answers;
  for (int i = 0; i < 6; ++i) answers.push_back(make(Call::set_access));
  const auto bad = Status::not_ready;
  EXPECT_EQ(answers, (std::vector{ok, ok, bad, bad, ok, ok}));
}

TEST_F(Injected, SeveralInjectionsHoldAtOnceAndAreCleared) {
  host.inject({.call = Call::copy, .nth = 1, .status = Status::unknown});
  host.inject({.call = Call::copy, .nth = 2, .status = Status::out_of_memory});
  host.inject({.call = Call::fill, .nth = 1, .status = Status::unknown});
  EXPECT_EQ(make(Call::copy), Status::unknown);
  EXPECT_EQ(make(Call::copy), Status::out_of_memory);
  host.clear_injections();
  EXPECT_EQ(make(Call::fill), ok);
}

TEST_F(Injected, CallsAreCounted) {
  for (const Call call : {Call::reserve, Call::fill, Call::query}) {
    const auto before = host.calls(call);
    EXPECT_EQ(make(call), ok);
    EXPECT_EQ(host.calls(call), before + 1);
  }
}

TEST_F(Injected, ADelayedCallReturnsLate) {
  host.inject({.call = Call::map, .delay = 20ms});
  const auto start = Clock::now();
  EXPECT_EQ(make(Call::map), ok);
  EXPECT_GE(Clock::now() - start, 20ms);
}

TEST_F(Injected, LateWorkHoldsItsStreamAndNotTheCaller) {
  for (const Call call : {Call::copy, Call::fill, Call::record, Call::wait, Call::host_call}) {
    ASSERT_EQ(make(Call::record), ok);
    host.inject({.call = call, .late = 300ms});
    const auto start = Clock::now();
    ASSERT_EQ(make(call), ok);
    EXPECT_LT(Clock::now() - start, 200ms) << static_cast<int>(call);
    world.finish();
    EXPECT_GE(Clock::now() - start, 300ms) << static_cast<int>(call);
  }
}

TEST_F(Injected, ALateCopyIsStillInFlight) {
  host.inject({.call = Call::copy, .late = 200ms});
  ASSERT_EQ(make(Call::copy), ok);
  ASSERT_EQ(driver.unmap(at, chunk), ok);
  EXPECT_EQ(driver.health(0), Status::illegal_address);
  world.expect_lost();
}

TEST(Jitter, IsTheSameForTheSameSeed) {
  for (std::uint64_t nth = 1; nth < 100; ++nth)
    EXPECT_EQ(jitter_of(7, Call::map, nth, 1ms), jitter_of(7, Call::map, nth, 1ms));
}

TEST(Jitter, DiffersBySeedAndCallAndCount) {
  const auto one = jitter_of(7, Call::map, 1, 1s);
  EXPECT_NE(one, jitter_of(8, Call::map, 1, 1s));
  EXPECT_NE(one, jitter_of(7, Call::unmap, 1, 1s));
  EXPECT_NE(one, jitter_of(7, Call::map, 2, 1s));
}

TEST(Jitter, StaysWithinItsMost) {
  auto longest = 0ns;
  for (std::uint64_t nth = 1; nth < 1000; ++nth)
    longest = std::max(longest, jitter_of(1, Call::copy, nth, 1us));
  EXPECT_LE(longest, 1us);
  EXPECT_GE(longest, 900ns);
  EXPECT_EQ(jitter_of(1, Call::copy, 1, 0ns), 0ns);
}

TEST(Jitter, DelaysCallsThatStillWork) {
  HostWorld world({.capacity = 16_MiB, .seed = 3, .jitter = 1ms});
  std::byte* at = world.reserve(2_MiB);
  for (int i = 0; i < 20; ++i) {
    world.put(at, 2_MiB);
    ASSERT_EQ(world.driver->fill(at, 1, 2_MiB, world.stream), ok);
    world.finish();
    ASSERT_EQ(world.driver->unmap(at, 2_MiB), ok);
  }
}

// A link that moves a chunk in 100 ms.
struct SlowLink : testing::Test {
  HostWorld world{{.capacity = 32_MiB, .link_rate = 2_MiB * 10.0}};
  Driver& driver = *world.driver;
  const Bytes chunk = world.chunk;
  std::byte* at = world.reserve(4 * chunk);
  PinnedWords words{driver, chunk};
  Stream other;
  void SetUp() override {
    for (int i = 0; i < 4; ++i) world.put(at + chunk_of(i), chunk);
    ASSERT_EQ(driver.create_stream(other, 0), ok);
  }
  Clock::duration both_streams() {
    const auto start = Clock::now();
    world.finish();
    EXPECT_EQ(driver.synchronize(other), ok);
    return Clock::now() - start;
  }
};

TEST_F(SlowLink, ACopyTakesAsLongAsTheLink) {
  ASSERT_EQ(driver.copy(at, words.data(), chunk, world.stream), ok);
  EXPECT_GE(both_streams(), 95ms);
}

TEST_F(SlowLink, CopiesInOneDirectionShareIt) {
  ASSERT_EQ(driver.copy(at, words.data(), chunk, world.stream), ok);
  ASSERT_EQ(driver.copy(at + chunk, words.data(), chunk, other), ok);
  EXPECT_GE(both_streams(), 190ms);
}

TEST_F(SlowLink, InAndOutDoNotDisturbEachOther) {
  ASSERT_EQ(driver.copy(at, words.data(), chunk, world.stream), ok);
  PinnedWords home(driver, chunk);
  ASSERT_EQ(driver.copy(home.data(), at + chunk, chunk / 2, other), ok);
  const auto start = Clock::now();
  ASSERT_EQ(driver.synchronize(other), ok);
  EXPECT_LT(Clock::now() - start, 95ms) << "it need not wait for the copy in";
  world.finish();
}

TEST_F(SlowLink, CopiesWithinADeviceDoNotUseIt) {
  const auto start = Clock::now();
  ASSERT_EQ(driver.copy(at + chunk, at, chunk, world.stream), ok);
  world.finish();
  EXPECT_LT(Clock::now() - start, 95ms);
}

}  // namespace
}  // namespace holdall::vmm
