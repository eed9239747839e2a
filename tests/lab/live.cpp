// What the engine did, the lab does again: every hit and every victim, for every policy.
#include <algorithm>

#include "apps/policy/error.hpp"
#include "apps/policy/reenact.hpp"
#include "apps/policy/replay.hpp"
#include "policies/registry.hpp"
#include "tests/engine/world.hpp"
#include "tests/lab/lab.hpp"

namespace holdall::lab {
namespace {

class Live : public testing::TestWithParam<std::string> {
 protected:
  // What a program did to an engine with that policy; its trace is in path().
  template <class F>
  Stats record(std::uint64_t chunks, F program, std::string policy = GetParam()) const {
    World w = World::of(chunks, {.policy = std::move(policy), .trace = path()});
    program(w);
    return w.engine.stats();
  }
  std::string path() const { return folder_ / "trace"; }

  void expect_again(const Stats& stats) const {
    const Reenactment again = reenact(path());
    EXPECT_EQ(again.recording.policy, GetParam());
    EXPECT_EQ(again.hits, stats.hits);
    EXPECT_EQ(again.faults, stats.faults);
    EXPECT_EQ(again.prefetched, stats.prefetched);
    EXPECT_GT(again.victims, 0u);
    EXPECT_EQ(again.agreed, again.victims) << again.differed;
  }

 private:
  Folder folder_;
};

// A pseudo-random chunk below `n`, the lower the likelier.
std::uint64_t some(std::uint64_t& state, std::uint64_t n) {
  const auto next = [&] {
    return (state = state * 6364136223846793005 + 1442695040888963407) >> 33;
  };
  return std::min(next() % n, next() % n);
}

// One chunk a lease and nothing in the way: then a plain replay is the engine. The first round in
// order of address, so that the lab numbers the chunks as the engine does: some policies hash.
TEST_P(Live, ReadingChunkByChunkIsAPlainReplay) {
  const Stats stats = record(6, [](World& w) {
    const Words a = w.range("a", 20);
    std::uint64_t state = 1;
    for (std::uint64_t i = 0; i < 300; ++i) {
      w.touch(a, i < 20 || i % 3 == 0 ? i % 20 : some(state, 20));
      w.settle();
    }
  });
  expect_again(stats);
  if (GetParam() == "admit") GTEST_SKIP() << "the engine brings in what it refuses";
  const Trace trace = read_trace(path(), {.sizes = true});
  const Counts counts =
      replay(trace.requests(), GetParam(), {.capacity = 6 * chunk, .sizes = true});
  EXPECT_EQ(counts.hits, stats.hits);
  EXPECT_EQ(counts.evictions, stats.evictions);
}

TEST_P(Live, LeasesOfManyChunksPinThem) {
  expect_again(record(8, [](World& w) {
    const Words a = w.range("a", 24), b = w.range("b", 6);
    const Lease kept = w.engine.acquire(w.stream, {World::reading(b, 1, 2)});
    std::uint64_t state = 2;
    for (int i = 0; i < 200; ++i) {
      const std::uint64_t n = 1 + some(state, 4);
      (void)w.engine.acquire(w.stream,
                             {World::reading(a, some(state, 25 - n), n), World::reading(b, i % 2)});
    }
  }));
}

TEST_P(Live, WritesPrefetchesAdviceAndDropsAreReenacted) {
  expect_again(record(8, [](World& w) {
    const Words a = w.range("a", 20, pinned());
    Words b = w.range("b", 5);
    w.engine.advise(World::reading(a, 3), Advice::keep);
    std::uint64_t state = 3;
    for (int i = 0; i < 150; ++i) {
      const std::uint64_t at = some(state, 19);
      if (i % 7 == 0) w.engine.prefetch({World::reading(a, some(state, 18), 3)});
      if (i % 9 == 0) w.engine.advise(World::reading(a, at), Advice::do_not_need);
      if (i == 60) w.engine.set_memory(0, 6 * chunk);
      if (i == 80) w.engine.drop(b);
      if (i == 90) b = w.range("c", 5);
      if (b && i % 4 == 0 && (i < 80 || i >= 90)) w.touch(b, some(state, 5));
      if (i % 2)
        w.put(a, at, 2, static_cast<std::uint64_t>(i));
      else
        (void)w.engine.acquire(w.stream, {World::reading(a, at, 2)});
    }
    for (int i = 0; i < 3; ++i)
      for (Passes passes = w.engine.passes(w.stream, {read(a)}); passes.next();) {
      }
  }));
}

TEST_P(Live, DevicesHaveAPolicyEach) {
  const std::string trace = path();
  Stats stats;
  {
    World w = World::of(4, {.policy = GetParam(), .devices = 2, .trace = trace});
    const Words a = w.range("a", 16);
    std::uint64_t state = 4;
    for (int i = 0; i < 200; ++i)
      (void)w.engine.acquire(w.streams[static_cast<std::size_t>(i) % 2],
                             {World::reading(a, some(state, 16))});
    stats = w.engine.stats();
  }
  EXPECT_EQ(reenact(trace).recording.budgets.size(), 2u);
  expect_again(stats);
}

TEST_P(Live, SchedulesAndAdviceAreTold) {
  expect_again(record(6, [](World& w) {
    const Words a = w.range("a", 12);
    w.engine.schedule({read(a)}, 3);
    for (std::uint64_t i = 0; i < 30; ++i) {
      w.touch(a, i % 12);
      if (i == 9) w.engine.advise(World::reading(a, 2, 3), Advice::will_need);
      if (i == 15) w.engine.advise(World::reading(a, 3, 2), Advice::do_not_need);
      if (i == 20) w.engine.forget_schedule();
    }
  }));
}

INSTANTIATE_TEST_SUITE_P(EveryPolicy, Live, testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const PolicyInfo& policy : list_policies())
                             names.push_back(policy.name);
                           return names;
                         }()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

// Rounds over 10 chunks in 4, the order declared; what they faulted.
std::uint64_t declared_loop(const std::string& policy, const std::filesystem::path& trace,
                            std::uint64_t chunks_a_lease) {
  World w = World::of(4, {.policy = policy, .trace = trace});
  const Words a = w.range("a", 10);
  w.engine.schedule({read(a)}, 6);
  for (int round = 0; round < 6; ++round)
    for (std::uint64_t i = 0; i < 10; i += chunks_a_lease) {
      (void)w.engine.acquire(w.stream, {World::reading(a, i, chunks_a_lease)});
      w.settle();
    }
  return w.engine.stats().faults;
}

TEST(Schedules, MakeOptTheOptimum) {
  const Folder folder;
  const std::uint64_t faults = declared_loop("opt", folder / "trace", 1);
  Trace trace = read_trace(folder / "trace");
  find_next_uses(trace);
  EXPECT_EQ(faults, replay(trace.requests(), "opt", {.capacity = 4}).misses);
  EXPECT_LT(faults, 60u) << "all of them miss under lru";
}

TEST(Schedules, KeepOptFromFaultingMoreThanLru) {
  const Folder folder;
  for (const std::uint64_t chunks : {1, 2})
    EXPECT_LT(declared_loop("opt", folder / "opt", chunks),
              declared_loop("lru", folder / "lru", chunks))
        << chunks;
}

TEST(Schedules, ThatAreForgottenLeaveLru) {
  World w = World::of(4, {.policy = "opt"});
  const Words a = w.range("a", 5);
  w.engine.schedule({read(a)}, 9);
  w.engine.forget_schedule();
  for (int round = 0; round < 3; ++round)
    for (std::uint64_t i = 0; i < 5; ++i) {
      w.touch(a, i);
      w.settle();
    }
  EXPECT_EQ(w.engine.stats().faults, 15u);
}

TEST(Reenacting, ShowsWhereAnotherPolicyWouldHaveChosenOthers) {
  const Folder folder;
  {
    World w = World::of(4, {.policy = "lru", .trace = folder / "trace"});
    const Words a = w.range("a", 8);
    for (int i = 0; i < 5; ++i) w.touch(a, 0, 8);
  }
  const Reenactment other = reenact(folder / "trace", "mru");
  EXPECT_LT(other.agreed, other.victims);
  EXPECT_NE(other.differed.find("instead of chunk"), std::string::npos) << other.differed;
}

TEST(Reenacting, RefusesWhatIsNoRecording) {
  EXPECT_THROW((void)reenact(TemporaryFile("HOLDTRC1").path()), LabError);
  EXPECT_THROW((void)reenact(TemporaryFile("HOLDTRC2\1").path()), LabError);
  const std::string header = "HOLDTRC2" + raw(RecordingHeader{1, 3}) + "lru" + raw(Bytes{4});
  EXPECT_EQ(reenact(TemporaryFile(header).path()).victims, 0u);
  EXPECT_THROW((void)reenact(TemporaryFile(header + "x").path()), LabError);
  EXPECT_THROW((void)reenact(TemporaryFile(header + raw(TraceRecord{.kind = trace_evict})).path()),
               LabError)
      << "a chunk leaves that is not resident";
}

}  // namespace
}  // namespace holdall::lab
