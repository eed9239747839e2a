// When what is leased may go, and that all of it does go.
#include <gtest/gtest.h>

#include <thread>

#include "tests/engine/world.hpp"

namespace holdall {
namespace {

TEST(Lifetimes, AChunkStaysMappedUntilTheKernelsUnderItsReleasedLeaseHaveRun) {
  World w = World::of(2);
  const Words a = w.range("a", 2);
  const Words b = w.range("b", 2);
  Gate gate;
  {
    const Lease lease = w.engine.acquire(w.stream, {World::writing(a, 0, 2)});
    vmm::launch(w.stream, gate.held());
    World::launch_put(w.stream, a, 0, 2, 1);
  }
  const std::uint64_t unmaps = w.host.calls(vmm::Call::unmap);
  const Stream other = w.engine.stream();
  std::thread waiting([&] { (void)w.engine.acquire(other, {World::reading(b, 0)}); });
  while (w.engine.stats().stalls < 1 && w.engine.stats().devices[0].pinned != 2 * chunk)
    std::this_thread::yield();
  EXPECT_EQ(w.host.calls(vmm::Call::unmap), unmaps);
  EXPECT_EQ(w.host.mapped(a.state().base, 2 * chunk), 2 * chunk);
  gate.open();
  waiting.join();
  EXPECT_EQ(w.wrong(a, 0, 2, 1), 0u);
  EXPECT_EQ(w.host.health(0), vmm::Status::ok);
}

TEST(Lifetimes, TheSameHoldsForAStreamThatTheEngineDidNotMake) {
  World w = World::of(2);
  const Words a = w.range("a", 2);
  const Words b = w.range("b", 2);
  for (int round = 1; round <= 20; ++round) {
    Stream foreign;
    vmm::check(w.host.create_stream(foreign, 0), "create a stream");
    {
      const Lease lease = w.engine.acquire(foreign, {World::writing(a, 0, 2)});
      World::launch_put(foreign, a, 0, 2, static_cast<std::uint64_t>(round));
    }
    vmm::check(w.host.destroy_stream(foreign), "destroy a stream");
    w.touch(b, 0, 2);
    EXPECT_EQ(w.wrong(a, 0, 2, static_cast<std::uint64_t>(round)), 0u);
  }
}

TEST(Lifetimes, AStreamMadeWhereAnotherWasHasItsOwnDevice) {
  World w({.memory = 2 * chunk, .devices = 2}, {.peers = {{true, false}, {false, true}}});
  const Words a = w.range("a", 1);
  for (int round = 0; round < 8; ++round) {
    Stream foreign;
    vmm::check(w.host.create_stream(foreign, round % 2), "create a stream");
    {
      const Lease lease = w.engine.acquire(foreign, {World::writing(a, 0)});
      World::launch_put(foreign, a, 0, 1, 1);
      vmm::check(w.host.synchronize(foreign), "wait");
      EXPECT_EQ(World::device_of(a, 0), round % 2);
    }
    vmm::check(w.host.destroy_stream(foreign), "destroy a stream");
  }
  EXPECT_EQ(w.wrong(a, 0, 1, 1), 0u);
}

TEST(Lifetimes, AnAcquireDuringAWriteBackKeepsTheChunk) {
  World w = World::of(4);
  const Words a = w.range("a", 1, pinned());
  w.put(a, 0, 1, 1);
  w.host.inject({.call = vmm::Call::copy, .late = std::chrono::milliseconds(30)});
  std::thread flushing([&] { w.engine.flush(a); });
  while (ChunkWord::of(a.state().table[0]).dirty()) std::this_thread::yield();
  const std::uint64_t faults = w.engine.stats().faults;
  w.put(a, 0, 1, 2);
  EXPECT_EQ(w.engine.stats().faults, faults);
  flushing.join();
  w.engine.flush(a);
  const std::uint64_t* const stored = w.engine.contents(a);
  for (std::uint64_t i = 0; i < chunk_words; i += every) ASSERT_EQ(stored[i], word(i, 2));
}

TEST(Lifetimes, ManyMoreLeasesThanAFenceCoversEndWell) {
  World w = World::of(4);
  const Words a = w.range("a", 4);
  for (const bool foreign : {false, true}) {
    Stream on = w.stream;
    if (foreign) vmm::check(w.host.create_stream(on, 0), "create a stream");
    std::vector<Lease> leases;
    for (int i = 0; i < 300; ++i)
      leases.push_back(
          w.engine.acquire(on, {World::writing(a, static_cast<std::uint64_t>(i) % 4)}));
    EXPECT_EQ(w.engine.leased(), 300 * chunk);
    leases.clear();
    for (int i = 0; i < 300; ++i)
      (void)w.engine.acquire(on, {World::reading(a, static_cast<std::uint64_t>(i) % 4)});
    EXPECT_EQ(w.engine.leased(), 0u);
    w.engine.synchronize(on);
    w.settle();
    if (foreign) vmm::check(w.host.destroy_stream(on), "destroy a stream");
  }
}

TEST(Lifetimes, AFlushRightAfterALeaseHasEndedWaitsForItsKernels) {
  World w = World::of(4);
  const Words a = w.range("a", 1, pinned());
  for (std::uint64_t version = 1; version < 50; ++version) {
    {
      const Lease lease = w.engine.acquire(w.stream, {World::writing(a, 0)});
      World::launch_put(w.stream, a, 0, 1, version);
    }
    w.engine.flush(a);
    EXPECT_EQ(w.engine.contents(a)[0], word(0, version));
  }
}

TEST(Lifetimes, ADropWaitsForKernelsAndForOthersLeases) {
  World w = World::of(4);
  Words a = w.range("a", 2);
  Gate gate;
  Lease lease = w.engine.acquire(w.stream, {World::writing(a, 0, 2)});
  vmm::launch(w.stream, gate.held());
  World::launch_put(w.stream, a, 0, 2, 1);
  lease.hand_over();
  std::atomic<bool> dropped = false;
  std::thread dropping([&] {
    w.engine.drop(a);
    dropped = true;
  });
  while (!a.state().dropped) std::this_thread::yield();
  (void)w.engine.stats();
  EXPECT_FALSE(dropped);
  lease.release();
  (void)w.engine.stats();
  EXPECT_FALSE(dropped);
  gate.open();
  dropping.join();
  EXPECT_EQ(w.host.health(0), vmm::Status::ok);
  EXPECT_THROW((void)w.engine.acquire(w.stream, {read(a)}), RangeDropped);
}

TEST(Lifetimes, ADropOfWhatTheCallerLeasesIsRefusedAndChangesNothing) {
  World w = World::of(4);
  Words a = w.range("a", 2);
  w.put(a, 0, 2, 1);
  {
    const Lease lease = w.engine.acquire(w.stream, {World::reading(a, 0)});
    EXPECT_THROW(w.engine.drop(a), WouldDeadlock);
    EXPECT_EQ(w.residents(a).size(), 2u);
  }
  EXPECT_EQ(w.wrong(a, 0, 2, 1), 0u);
  w.engine.drop(a);
}

TEST(Lifetimes, ADroppedRangeIsRefusedByName) {
  World w = World::of(4);
  Words a = w.range("gone", 2);
  w.put(a, 0, 2, 1);
  w.engine.drop(a);
  const auto says = [](auto f) { expect_says(message_of<RangeDropped>(f), {"'gone'", "dropped"}); };
  says([&] { (void)w.engine.acquire(w.stream, {read(a)}); });
  says([&] { (void)w.engine.passes(w.stream, {write(a)}); });
  says([&] { w.engine.flush(a); });
  says([&] { w.engine.drop(a); });
  says([&] { (void)w.engine.contents(a); });
  says([&] { w.engine.demand(w.stream, a); });
  std::vector<std::uint64_t> some(1);
  says([&] { w.engine.store(a, 0, std::span(some)); });
  w.engine.prefetch({read(a)});
  w.engine.advise(read(a), Advice::do_not_need);
  w.engine.advise(read(a), Advice::will_need);
}

TEST(Lifetimes, MemoryStaysFlatOverAThousandCyclesOfGrowthAndShrinking) {
  World w = World::of(6, {.host_memory = 512_MiB});
  const Words stays = w.range("stays", 2);
  w.put(stays, 0, 2, 7);
  Bytes pinned_at_first = 0;
  for (std::uint64_t cycle = 1; cycle <= 1000; ++cycle) {
    Words comes = w.range("comes", 3);
    w.put(comes, 0, 3, cycle);
    w.settle();
    w.engine.set_memory(0, 2 * chunk);
    ASSERT_LE(w.host.allocated(0), 2 * chunk);
    if (cycle % 50 == 0) {
      ASSERT_EQ(w.wrong(comes, 0, 3, cycle), 0u);
    }
    comes = {};
    w.engine.set_memory(0, 6 * chunk);
    if (cycle == 1) pinned_at_first = w.host.pinned();
    ASSERT_EQ(w.host.pinned(), pinned_at_first);
    ASSERT_LE(w.host.frames(), 2u);
  }
  EXPECT_EQ(w.wrong(stays, 0, 2, 7), 0u);
}

TEST(Lifetimes, TheEngineTakesAllItsMemoryAlong) {
  const Folder folder;
  const auto path = folder.file("data", 2 * chunk_words, 1);
  {
    Config config{.memory = 4 * chunk, .host_memory = 256_MiB};
    config.chunk = chunk;
    auto driver = vmm::make_host_driver({.capacity = 64_MiB});
    Engine engine(std::move(driver), config);
    const Words a = engine.reserve<std::uint64_t>(2 * chunk_words,
                                                  {.name = "a", .backing = file(path, 0, true)});
    const Lease lease = engine.acquire(engine.stream(), {write(a)});
    a.data()[0] = word(0, 2);
  }
  EXPECT_EQ(wrong_in_file(path, 1, 2), 0u);
  EXPECT_EQ(wrong_in_file(path, chunk_words, 1), 1u);
}

TEST(Lifetimes, ARangeThatCouldNotBeDroppedIsWrittenBackWhenTheEngineEnds) {
  const Folder folder;
  const auto path = folder.file("data", 2 * chunk_words, 1);
  {
    World w = World::of(4);
    Lease lease;
    {
      const Words a = w.range("a", 2, file(path, 0, true));
      lease = w.engine.acquire(w.stream, {write(a)});
      World::launch_put(w.stream, a, 0, 2, 2);
    }  // the destructor can't wait for this thread's lease
    lease.release();
  }
  std::uint64_t value = 0;
  std::memcpy(&value, &bytes_of(path)[chunk], 8);
  EXPECT_EQ(value, word(chunk_words, 2));
}

TEST(Lifetimes, EvictionOnOneDeviceDoesNotTouchAnother) {
  World w({.memory = 2 * chunk, .devices = 2});
  const Words a = w.range("a", 2);
  const Words b = w.range("b", 6);
  Gate gate;
  Lease lease = w.engine.acquire(w.streams[0], {World::writing(a, 0, 2)});
  vmm::launch(w.streams[0], gate.held());
  World::launch_put(w.streams[0], a, 0, 2, 3);
  lease.release();
  for (std::uint64_t i = 0; i < 6; ++i) {
    const Lease other = w.engine.acquire(w.streams[1], {World::writing(b, i)});
    World::launch_put(w.streams[1], b, i, 1, 4);
  }
  w.engine.synchronize(w.streams[1]);
  EXPECT_EQ(World::device_of(a, 0), 0);
  gate.open();
  EXPECT_EQ(w.wrong(a, 0, 2, 3), 0u);
  EXPECT_EQ(w.wrong(b, 0, 6, 4), 0u);
}

TEST(Lifetimes, AChunkUsedOnTwoDevicesStaysUntilBothHavePassed) {
  World w({.memory = 1 * chunk, .devices = 2}, {.peers = {{true, true}, {true, true}}});
  const Words a = w.range("a", 1);
  Words b = w.range("b", 2);
  w.put(a, 0, 1, 1);
  Gate gate;
  Lease first = w.engine.acquire(w.streams[0], {read(a)});
  Lease second = w.engine.acquire(w.streams[1], {read(a)});
  vmm::launch(w.streams[1], gate.held());
  std::atomic<std::uint64_t> wrong = 0;
  vmm::launch(w.streams[1], [&, at = a.data()] { wrong += at[0] != word(0, 1); });
  first.release();
  second.release();
  w.engine.synchronize(w.streams[0]);
  w.touch(b, 0);
  EXPECT_EQ(w.host.mapped(a.state().base, chunk), chunk);
  EXPECT_TRUE(World::resident(a, 0));
  gate.open();
  w.engine.synchronize(w.streams[1]);
  EXPECT_EQ(wrong, 0u);
}

TEST(Lifetimes, AChunkReadInPlaceSaysNothingOfTheCopiesOfAnotherDevice) {
  World w({.memory = 2 * chunk, .devices = 2}, {.peers = {{true, false}, {false, true}}});
  const Words a = w.range(6, {.name = "a", .cold = Cold::host_mapped});
  const Words b = w.range("b", 2, pinned());
  w.put(b, 0, 2, 1);
  w.engine.flush(b);
  for (int round = 0; round < 10; ++round)
    for (std::uint64_t i = 0; i < 6; ++i)
      (void)w.engine.acquire(w.streams[1], {World::reading(a, i)});
  while (!w.residents(b).empty()) w.engine.set_memory(0, 0);
  w.engine.set_memory(0, 2 * chunk);
  (void)w.engine.acquire(w.stream, {in_place(a, 0, chunk_words)});
  w.host.inject({.call = vmm::Call::copy, .late = std::chrono::milliseconds(50)});
  w.touch(b, 0);  // its copy ends late, so that the next one begins late
  EXPECT_EQ(w.wrong(b, 1, 1, 1), 0u);
}

}  // namespace
}  // namespace holdall
