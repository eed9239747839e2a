// Passes, demand, prefetch and advice: more than fits, a part at a time.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <thread>

#include "policies/registry.hpp"
#include "tests/engine/world.hpp"

namespace holdall {
namespace {

// How often each chunk of `r` came in a sweep; every word is compared with a version.
std::map<std::uint64_t, int> swept(World& w, const Words& r, std::uint64_t version, Stream on) {
  std::map<std::uint64_t, int> times;
  for (Passes passes = w.engine.passes(on, {read(r)}); passes.next();) {
    Bytes bytes = 0;
    for (const Need& need : passes.parts()) {
      EXPECT_EQ(need.range, &r.state());
      for (std::uint64_t i = 0; i < need.run.count; ++i) ++times[need.run.first + i];
      bytes += need.run.count * r.chunk_bytes();
      EXPECT_EQ(w.wrong_now(on, r, need.run.first, need.run.count, version), 0u);
    }
    EXPECT_LE(bytes, w.engine.memory());
  }
  return times;
}

std::map<std::uint64_t, int> once(std::uint64_t chunks) {
  std::map<std::uint64_t, int> times;
  for (std::uint64_t i = 0; i < chunks; ++i) times[i] = 1;
  return times;
}

TEST(Passes, CoverEachChunkExactlyOnceWithAnyBudgetDownToOneChunk) {
  for (const std::uint64_t budget : {1, 2, 3, 7, 16}) {
    World w = World::of(budget);
    const Words a = w.range("a", 12);
    w.put(a, 0, 12, 1);
    for (int sweep = 0; sweep < 3; ++sweep)
      EXPECT_EQ(swept(w, a, 1, w.stream), once(12)) << "budget " << budget;
    EXPECT_LE(w.host.allocated(0), budget * chunk);
  }
}

TEST(Passes, StartOnChunksThatAreResident) {
  World w = World::of(4);
  const Words a = w.range("a", 8);
  w.touch(a, 5, 3);
  w.settle();
  Passes passes = w.engine.passes(w.stream, {read(a)});
  ASSERT_TRUE(passes.next());
  EXPECT_TRUE(passes.was_resident());
  EXPECT_GE(passes.parts()[0].run.first, 5u);
}

std::vector<std::string> policies() {
  std::vector<std::string> names;
  for (const PolicyInfo& policy : list_policies()) names.push_back(policy.name);
  return names;
}
std::string named(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::ranges::replace(name, '-', '_');
  return name;
}

class ASecondSweep : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Policies, ASecondSweep, testing::ValuesIn(policies()), named);

TEST_P(ASecondSweep, MovesAboutWhatIsNotResident) {
  for (const std::uint64_t ratio : {2, 4}) {
    World w = World::of(16, {.policy = GetParam()});
    const Words a = w.range("a", 16 * ratio, pinned());
    w.put(a, 0, 16 * ratio, 1);
    w.engine.flush(a);
    (void)swept(w, a, 1, w.stream);
    for (int sweep = 0; sweep < 3; ++sweep) {
      const Bytes before = w.engine.stats().bytes_in;
      EXPECT_EQ(swept(w, a, 1, w.stream), once(16 * ratio));
      const double moved = static_cast<double>(w.engine.stats().bytes_in - before) / chunk;
      EXPECT_LE(moved, 16.0 * static_cast<double>(ratio) - 16 + 5) << "ratio " << ratio;
    }
  }
}

TEST(Passes, FitBesideLeasesThatTakeMostOfTheBudget) {
  World w = World::of(6);
  const Words vertices = w.range("vertices", 5);
  const Words edges = w.range("edges", 12);
  w.put(edges, 0, 12, 1);
  const Lease lease = w.engine.acquire(w.stream, {write(vertices)});
  World::launch_put(w.stream, vertices, 0, 5, 2);
  for (int sweep = 0; sweep < 3; ++sweep) EXPECT_EQ(swept(w, edges, 1, w.stream), once(12));
  EXPECT_EQ(w.wrong_now(w.stream, vertices, 0, 5, 2), 0u);
}

TEST(Passes, AreRefusedWhereOwnLeasesTakeAllOfTheBudget) {
  World w = World::of(2);
  const Words vertices = w.range("vertices", 2);
  const Words edges = w.range("edges", 4);
  const Lease lease = w.engine.acquire(w.stream, {write(vertices)});
  Passes passes = w.engine.passes(w.stream, {read(edges)});
  EXPECT_THROW((void)passes.next(), WouldDeadlock);
}

TEST(Passes, LeftHalfWayLetGoOfAll) {
  World w = World::of(4);
  const Words a = w.range("a", 12);
  w.put(a, 0, 12, 1);
  for (std::uint64_t stop = 0; stop < 12; ++stop) {
    Passes passes = w.engine.passes(w.stream, {read(a)});
    for (std::uint64_t i = 0; i < stop; ++i) ASSERT_TRUE(passes.next());
    if (stop % 3 == 0) passes = w.engine.passes(w.stream, {read(a)});
  }
  w.settle();
  EXPECT_EQ(w.engine.leased(), 0u);
  const Lease all_of_it = w.engine.acquire(w.stream, {World::reading(a, 8, 4)});
  EXPECT_EQ(w.wrong_now(w.stream, a, 8, 4, 1), 0u);
}

TEST(Passes, LeftBeforeWhatTheyBroughtInWasOverwrittenKeepItsContents) {
  World w = World::of(8);
  const Words a = w.range("a", 24, pinned());
  w.put(a, 0, 24, 1);
  w.engine.flush(a);
  for (int round = 0; round < 5; ++round) {
    Passes passes = w.engine.passes(w.stream, {overwrite(a)});
    ASSERT_TRUE(passes.next());
    for (const Need& need : passes.parts())
      World::launch_put(w.stream, a, need.run.first, need.run.count, 1);
    (void)w.engine.stats();
  }
  EXPECT_EQ(w.wrong(a, 0, 24, 1), 0u);
}

TEST(Passes, OfTwoThreadsFinishInASmallBudget) {
  for (const std::uint64_t budget : {2, 3, 5}) {
    World w = World::of(budget);
    const Words a = w.range("a", 10);
    const Words b = w.range("b", 10);
    w.put(a, 0, 10, 1);
    w.put(b, 0, 10, 2);
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t)
      threads.emplace_back([&, t] {
        const Stream mine = w.engine.stream();
        for (int sweep = 0; sweep < 4; ++sweep)
          EXPECT_EQ(swept(w, t ? b : a, t ? 2 : 1, mine), once(10));
      });
    for (std::thread& thread : threads) thread.join();
  }
}

TEST(Passes, OverTwoRangesAtOnceWritten) {
  World w = World::of(4);
  const Words a = w.range("a", 7), b = w.range("b", 5);
  for (Passes passes = w.engine.passes(w.stream, {overwrite(a), write(b)}); passes.next();)
    for (const Need& need : passes.parts())
      World::launch_put(w.stream, need.range == &a.state() ? a : b, need.run.first, need.run.count,
                        3);
  EXPECT_EQ(w.wrong(a, 0, 7, 3), 0u);
  EXPECT_EQ(w.wrong(b, 0, 5, 3), 0u);
}

TEST(Passes, LeaveOutWhatTheCallerWillDoWithout) {
  World w = World::of(4);
  const Words a = w.range("a", 12);
  w.put(a, 0, 12, 1);
  w.touch(a, 4, 2);
  w.settle();
  std::map<std::uint64_t, int> asked, times;
  Passes passes = w.engine.passes(w.stream, {read(a)});
  passes.leave_out([&](const RangeState& range, std::uint64_t c) {
    EXPECT_EQ(&range, &a.state());
    ++asked[c];
    return c % 3 == 0;
  });
  EXPECT_FALSE(asked.contains(4)) << "it is resident";
  while (passes.next())
    for (const Need& need : passes.parts())
      for (std::uint64_t i = 0; i < need.run.count; ++i) ++times[need.run.first + i];
  for (std::uint64_t c = 0; c < 12; ++c)
    EXPECT_EQ(times[c], asked.contains(c) && c % 3 == 0 ? 0 : 1) << "chunk " << c;
}

TEST(Passes, HandTheChunksOfSeveralRangesOutTogether) {
  for (const std::uint64_t budget : {2, 3, 5, 9, 30}) {
    World w = World::of(budget);
    const Words a = w.range("a", 12), b = w.range("b", 12);
    w.put(a, 0, 12, 1);
    w.put(b, 0, 12, 2);
    ChunkSet some(12);
    some.add(0, 5);
    some.add(7, 5);
    for (int sweep = 0; sweep < 3; ++sweep) {
      std::map<std::uint64_t, int> times;
      for (Passes passes = w.engine.passes_together(w.stream, some, a, b); passes.next();) {
        std::map<std::uint64_t, int> here;
        for (const Need& need : passes.parts()) {
          EXPECT_EQ(need.run.count, 1u);
          here[need.run.first] += need.range == &a.state() ? 1 : 10;
          EXPECT_EQ(need.range == &a.state() ? w.wrong_now(w.stream, a, need.run.first, 1, 1)
                                             : w.wrong_now(w.stream, b, need.run.first, 1, 2),
                    0u);
        }
        for (const auto& [c, both] : here) {
          EXPECT_EQ(both, 11) << "chunk " << c;
          ++times[c];
        }
      }
      EXPECT_EQ(times.size(), 10u) << "budget " << budget;
      for (const auto& [c, n] : times) EXPECT_TRUE(n == 1 && some.contains(c));
    }
  }
}

TEST(Demands, BringInWhatKernelsMissUntilNothingIs) {
  for (const std::uint64_t budget : {2, 3, 9}) {
    World w = World::of(budget);
    const Words a = w.range("a", 70);
    w.put(a, 0, 70, 1);
    Demand demand = w.engine.demand(w.stream, a);
    std::vector<bool> wanted(70), seen(70);
    for (std::uint64_t i = 0; i < 70; i += 3) wanted[i] = true;
    std::atomic<std::uint64_t> wrong = 0;
    int rounds = 0;
    do {
      vmm::launch(w.stream, [&] {
        for (std::uint64_t i = 0; i < 70; ++i) {
          if (!wanted[i] || seen[i]) continue;
          if (demand.resident()[i / 64] >> i % 64 & 1) {
            seen[i] = true;
            for (std::uint64_t k = i * chunk_words; k < (i + 1) * chunk_words; k += every)
              wrong += a.data()[k] != word(k, 1);
          } else {
            demand.missed()[i / 64] |= std::uint64_t{1} << i % 64;
          }
        }
      });
      ASSERT_LT(++rounds, 100);
    } while (demand.service());
    EXPECT_EQ(seen, wanted);
    EXPECT_EQ(wrong, 0u);
    EXPECT_GT(demand.missed_in_all(), 0u);
  }
}

TEST(Demands, WriteAsWell) {
  World w = World::of(3);
  const Words a = w.range("a", 8);
  std::vector<bool> done(8);
  {
    Demand demand = w.engine.demand(w.stream, a, Access::write);
    do {
      vmm::launch(w.stream, [&] {
        for (std::uint64_t i = 0; i < 8; ++i) {
          if (done[i]) continue;
          done[i] = *demand.resident() >> i & 1;
          if (!done[i]) *demand.missed() |= std::uint64_t{1} << i;
          for (std::uint64_t k = i * chunk_words; done[i] && k < (i + 1) * chunk_words; k += every)
            a.data()[k] = word(k, 4);
        }
      });
    } while (demand.service());
  }
  EXPECT_EQ(w.wrong(a, 0, 8, 4), 0u);
}

TEST(Hints, APrefetchMakesHitsOfFaults) {
  World w = World::of(8);
  const Words a = w.range("a", 4, pinned());
  w.engine.prefetch({read(a)});
  for (int tries = 0; w.engine.stats().prefetched < 4 && tries < 100'000; ++tries)
    std::this_thread::yield();
  w.touch(a, 0, 4);
  const Stats stats = w.engine.stats();
  EXPECT_EQ(stats.prefetched, 4u);
  EXPECT_EQ(stats.faults, 0u);
  EXPECT_EQ(stats.hits, 4u);
}

TEST(Prefetchers, BringInWhatTheyWantBesideAFault) {
  World w = World::of(8, {.prefetch = "next:n=3"});
  const Folder folder;
  const Words a = w.range("a", 6, file(folder.file("a", 6 * chunk_words, 1)));
  w.touch(a, 1, 1);
  for (int tries = 0; w.engine.stats().prefetched < 3 && tries < 100'000; ++tries)
    std::this_thread::yield();
  EXPECT_EQ(w.residents(a), (std::vector<std::uint64_t>{1, 2, 3, 4}));
  w.touch(a, 2, 3);
  EXPECT_EQ(w.engine.stats().faults, 1u);
  EXPECT_EQ(w.wrong(a, 0, 6, 1), 0u);
}

TEST(Prefetchers, NeverTakeWhatIsLeasedNorMoreThanTheBudget) {
  for (const char* const prefetch : {"next:n=8", "stride:ahead=8", "tree:density=1"}) {
    World w = World::of(4, {.prefetch = prefetch});
    const Words a = w.range("a", 32);
    w.put(a, 0, 32, 1);
    const Lease lease = w.engine.acquire(w.stream, {World::reading(a, 0, 2)});
    for (int sweep = 0; sweep < 3; ++sweep) EXPECT_EQ(w.wrong(a, 2, 30, 1), 0u) << prefetch;
    EXPECT_LE(w.host.allocated(0), 4 * chunk);
    EXPECT_TRUE(World::resident(a, 0) && World::resident(a, 1));
    EXPECT_EQ(w.wrong_now(w.stream, a, 0, 2, 1), 0u);
  }
}

TEST(Prefetchers, ThatAreUnknownAreRefusedWithTheList) {
  try {
    World w = World::of(4, {.prefetch = "nxet"});
    FAIL();
  } catch (const PolicyError& error) {
    EXPECT_NE(std::string(error.what()).find("next"), std::string::npos) << error.what();
  }
}

TEST(Hints, NeverEvictWhatIsLeased) {
  World w = World::of(4);
  const Words a = w.range("a", 4), b = w.range("b", 8);
  w.put(a, 0, 4, 1);
  const Lease lease = w.engine.acquire(w.stream, {read(a)});
  w.engine.prefetch({read(b)});
  w.engine.advise(read(a), Advice::do_not_need);
  w.engine.advise(read(b), Advice::will_need);
  for (int i = 0; i < 100; ++i) (void)w.engine.stats();
  EXPECT_EQ(w.residents(a).size(), 4u);
  EXPECT_EQ(w.wrong_now(w.stream, a, 0, 4, 1), 0u);
}

TEST(Hints, WhatIsNotNeededGoesFirstAndWhatIsToBeKeptLast) {
  World w = World::of(4);
  const Words a = w.range("a", 4), b = w.range("b", 8);
  w.touch(a, 0, 4);
  w.settle();
  w.engine.advise(World::reading(a, 0), Advice::keep);
  w.engine.advise(World::reading(a, 2), Advice::do_not_need);
  w.touch(b, 0);
  EXPECT_EQ(w.residents(a), (std::vector<std::uint64_t>{0, 1, 3}));
  for (std::uint64_t i = 1; i < 8; ++i) {
    w.settle();  // or else the kept chunk may be the only one that nobody pins
    w.touch(b, i);
  }
  EXPECT_EQ(w.residents(a), std::vector<std::uint64_t>{0});
  w.settle();
  w.engine.advise(World::reading(a, 0), Advice::normal);
  w.touch(b, 0, 8);
  EXPECT_TRUE(w.residents(a).empty());
}

}  // namespace
}  // namespace holdall
