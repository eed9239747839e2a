// Shadow mode: what the engine says that other policies would have done.
#include "policies/registry.hpp"
#include "tests/engine/world.hpp"

namespace holdall {
namespace {

// A cyclic sweep, thrice, with some chunks asked for again and again.
Stats sweep(const std::string& policy, const std::string& shadow, std::uint64_t chunks = 6) {
  World w = World::of(chunks, {.policy = policy, .shadow = shadow});
  const Words a = w.range("a", 2 * chunks);
  for (int round = 0; round < 3; ++round)
    for (std::uint64_t i = 0; i < 2 * chunks; ++i) {
      for (const std::uint64_t at : {i, i % 2}) {
        w.touch(a, at);
        w.settle();
      }
    }
  return w.engine.stats();
}

TEST(Shadows, OfASmallMemoryAreExact) {
  const Stats told = sweep("lru", "lru,mru,lfu:halflife=9,s3fifo,lirs");
  const std::vector<ShadowStats>& shadows = told.devices[0].shadows;
  ASSERT_EQ(shadows.size(), 5u);
  EXPECT_EQ(shadows[2].policy, "lfu:halflife=9");
  for (const ShadowStats& shadow : shadows) {
    const Stats real = sweep(shadow.policy, "");
    EXPECT_EQ(shadow.faults, real.faults) << shadow.policy;
    EXPECT_EQ(shadow.hits, real.hits) << shadow.policy;
  }
}

TEST(Shadows, HoldWhatLeasesPin) {
  World w = World::of(4, {.policy = "lru", .shadow = "lru"});
  const Words a = w.range("a", 8), kept = w.range("kept", 2);
  const Lease lease = w.engine.acquire(w.stream, {read(kept)});
  for (int round = 0; round < 3; ++round)
    for (std::uint64_t i = 0; i < 3; ++i) {
      w.touch(a, i);
      (void)w.engine.stats();
    }
  const Stats stats = w.engine.stats();
  EXPECT_EQ(stats.devices[0].shadows[0].faults, stats.faults);
}

TEST(Shadows, AreForgottenWithARangeAndFollowTheBudget) {
  World w = World::of(6, {.policy = "lru", .shadow = "lru"});
  {
    const Words a = w.range("a", 4);
    w.touch(a, 0, 4);
  }
  const Words b = w.range("b", 6);
  w.touch(b, 0, 6);
  w.settle();
  w.engine.set_memory(0, 3 * chunk);
  w.touch(b, 0, 6);
  const Stats stats = w.engine.stats();
  EXPECT_EQ(stats.devices[0].shadows[0].faults, stats.faults);
}

TEST(Shadows, ThatDoNotExistAreRefused) {
  expect_says(message_of<PolicyError>([] { World w({.shadow = "lru,lrru"}); }), {"lrru", "lru"});
}

}  // namespace
}  // namespace holdall
