// Many threads at once on one host driver; written for ThreadSanitizer.
#include <tbb/parallel_for.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include "tests/vmm/world.hpp"

namespace holdall::vmm {
namespace {

constexpr int threads = 4;

template <typename Body>
void in_threads(Body body) {
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) all.emplace_back([&body, i] { body(i); });
  for (auto& thread : all) thread.join();
}

TEST_F(Host, ThreadsPageThroughOneReservationAtOnce) {
  std::byte* at = world.reserve(chunk_of(threads));
  in_threads([&](int i) {
    Stream stream;
    ASSERT_EQ(driver.create_stream(stream, 0), ok);
    std::byte* mine = at + chunk_of(i);
    PinnedWords words(driver, chunk);
    for (std::uint64_t round = 0; round < 20; ++round) {
      world.put(mine, chunk);
      for (auto& word : words) word = round;
      ASSERT_EQ(driver.copy(mine, words.data(), chunk, stream), ok);
      ASSERT_EQ(driver.copy(words.data(), mine, 4096, stream), ok);
      ASSERT_EQ(driver.synchronize(stream), ok);
      ASSERT_EQ(words[511], round);
      ASSERT_EQ(driver.unmap(mine, chunk), ok);
    }
    EXPECT_EQ(driver.destroy_stream(stream), ok);
  });
  EXPECT_EQ(host.frames(), 0u);
  EXPECT_EQ(host.allocated(0), 0u);
}

TEST_F(Host, ThreadsMakeAndDropReservationsAtOnce) {
  in_threads([&](int) {
    for (int round = 0; round < 50; ++round) {
      std::byte* at = world.reserve(4 * chunk);
      world.put(at + chunk, chunk);
      EXPECT_EQ(driver.unmap(at + chunk, chunk), ok);
      EXPECT_EQ(driver.unreserve(at, 4 * chunk), ok);
    }
  });
}

TEST_F(Host, StreamsPassABatonRoundByEvents) {
  std::vector<Stream> streams(threads);
  std::vector<Event> events(threads);
  for (int i = 0; i < threads; ++i) {
    const auto n = static_cast<std::size_t>(i);
    ASSERT_EQ(driver.create_stream(streams[n], 0), ok);
    ASSERT_EQ(driver.create_event(events[n], 0), ok);
  }
  std::uint64_t baton = 0;  // not atomic: the events order it
  constexpr std::uint64_t rounds = 200;
  for (std::uint64_t round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < threads; ++i) {
      ASSERT_EQ(driver.wait(streams[i], events[(i + threads - 1) % threads]), ok);
      ASSERT_EQ(driver.host_call(streams[i], [&] { ++baton; }), ok);
      ASSERT_EQ(driver.record(events[i], streams[i]), ok);
    }
  ASSERT_EQ(driver.synchronize(events[threads - 1]), ok);
  EXPECT_EQ(baton, rounds * threads);
  for (const Stream stream : streams) EXPECT_EQ(driver.destroy_stream(stream), ok);
  for (const Event event : events) EXPECT_EQ(driver.destroy_event(event), ok);
}

TEST_F(Host, ThreadsThatWaitForOneStreamDoItsWorkInTurns) {
  Stream stream;
  ASSERT_EQ(driver.create_stream(stream, 0), ok);
  std::uint64_t ran = 0;  // not atomic: the stream orders it
  constexpr std::uint64_t rounds = 300;
  in_threads([&](int i) {
    for (std::uint64_t round = 0; round < rounds; ++round) {
      std::optional<Unhurried> by_hand;
      if (i % 2 == 0) by_hand.emplace(stream);
      std::uint64_t seen = 0;
      ASSERT_EQ(driver.host_call(stream, [&] { seen = ++ran; }), ok);
      if (round % 3 != 0) {
        ASSERT_EQ(driver.synchronize(stream), ok);
        ASSERT_GT(seen, round);
        continue;
      }
      Event event;
      ASSERT_EQ(driver.create_event(event, 0), ok);
      ASSERT_EQ(driver.record(event, stream), ok);
      ASSERT_EQ(driver.synchronize(event), ok);
      ASSERT_GT(seen, round);
      ASSERT_EQ(driver.destroy_event(event), ok);
    }
  });
  EXPECT_EQ(driver.destroy_stream(stream), ok);
  EXPECT_EQ(ran, threads * rounds);
}

TEST_F(Host, ThreadsRecordAndAskOneEventAtOnce) {
  Event event;
  ASSERT_EQ(driver.create_event(event, 0), ok);
  in_threads([&](int) {
    Stream stream;
    ASSERT_EQ(driver.create_stream(stream, 0), ok);
    for (int round = 0; round < 100; ++round) {
      ASSERT_EQ(driver.record(event, stream), ok);
      ASSERT_NE(driver.query(event), Status::invalid_value);
      ASSERT_EQ(driver.wait(stream, event), ok);
    }
    EXPECT_EQ(driver.synchronize(event), ok);
    EXPECT_EQ(driver.destroy_stream(stream), ok);
  });
  EXPECT_EQ(driver.destroy_event(event), ok);
}

TEST_F(Host, StreamsComeAndGoWithKernelsOnThem) {
  std::atomic<int> ran = 0;
  in_threads([&](int) {
    for (int round = 0; round < 20; ++round) {
      Stream stream;
      ASSERT_EQ(driver.create_stream(stream, 0), ok);
      launch(stream, [&] { tbb::parallel_for(0, 64, [&](int) { ++ran; }); });
      ASSERT_EQ(driver.destroy_stream(stream), ok);
    }
  });
  EXPECT_EQ(ran, threads * 20 * 64);
}

TEST_F(Host, OneOfManyFaultsAtOnceIsKept) {
  HostWorld lossy({.devices = threads, .capacity = 16_MiB});
  std::byte* at = lossy.reserve(16 * chunk);
  in_threads([&](int i) {
    for (int k = 0; k < 2; ++k) {
      Stream stream;
      if (lossy.driver->create_stream(stream, i) != ok) return;
      launch(stream, [=] { at[chunk_of(2 * i)] = std::byte{1}; });
      EXPECT_EQ(lossy.driver->synchronize(stream), Status::illegal_address);
    }
  });
  for (int i = 0; i < threads; ++i) {
    ASSERT_TRUE(lossy.driver->fault(i).has_value());
    EXPECT_EQ(lossy.driver->fault(i)->address, at + chunk_of(2 * i));
  }
}

TEST_F(Host, InjectionsComeAndGoWhileCallsAreMade) {
  in_threads([&](int i) {
    for (int round = 0; round < 200; ++round) {
      if (i == 0) host.inject({.call = Call::query, .status = Status::unknown});
      if (i == 1 && round % 50 == 0) host.clear_injections();
      (void)driver.query(Event{});
    }
  });
  EXPECT_EQ(host.calls(Call::query), threads * 200u);
}

}  // namespace
}  // namespace holdall::vmm
