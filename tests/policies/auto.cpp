// Auto: which policy it follows, and what that saves.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "policies/registry.hpp"
#include "policies/shadow.hpp"
#include "tests/policies/replay.hpp"

namespace holdall {
namespace {

using Trace = std::vector<Key>;

std::size_t misses(const std::string& spec, const Trace& trace, std::size_t capacity) {
  const auto policy = make_policy(spec);
  policy->resize(capacity);
  return replay(*policy, trace, capacity).misses;
}

Trace loop(std::size_t length, std::size_t requests) {
  Trace trace(requests);
  for (std::size_t i = 0; i < requests; ++i) trace[i] = Key{i % length};
  return trace;
}

Trace zipf(std::size_t chunks, std::size_t requests) {
  std::mt19937_64 random(1);
  Trace trace(requests);
  for (Key& key : trace) {
    const double u = static_cast<double>(random() >> 11) * 0x1p-53;
    key = Key{static_cast<std::uint64_t>(std::pow(static_cast<double>(chunks), u))};
  }
  return trace;
}

TEST(Auto, FollowsMruOnALoop) {
  for (const std::size_t capacity : {8, 40, 400, 2000}) {
    const Trace trace = loop(capacity * 2, capacity * 100);
    EXPECT_EQ(misses("lru", trace, capacity), trace.size());
    EXPECT_LT(misses("auto:among=lru+mru", trace, capacity),
              1.1 * static_cast<double>(misses("mru", trace, capacity)))
        << capacity;
  }
}

TEST(Auto, StaysWithLruOnAMovingFrontier) {
  std::mt19937_64 random(2);
  Trace trace(100'000);
  for (std::size_t i = 0; i < trace.size(); ++i) trace[i] = Key{i / 20 + random() % 600};
  EXPECT_LE(misses("auto:among=lru+mru", trace, 500), misses("lru", trace, 500));
}

TEST(Auto, ComesNearTheBestOnZipf) {
  const Trace trace = zipf(20'000, 200'000);
  EXPECT_LT(misses("auto:among=lru+mru+wtinylfu", trace, 1000),
            1.03 * static_cast<double>(misses("wtinylfu", trace, 1000)));
}

// A loop, then a hot set, then a loop: better than either policy alone.
TEST(Auto, ChangesWithTheTrace) {
  Trace trace = loop(2000, 100'000);
  const Trace hot = zipf(5000, 100'000), again = loop(2000, 100'000);
  trace.insert(trace.end(), hot.begin(), hot.end());
  trace.insert(trace.end(), again.begin(), again.end());
  const std::size_t chosen = misses("auto:among=lru+mru", trace, 1000);
  EXPECT_LT(chosen, misses("lru", trace, 1000));
  EXPECT_LT(chosen, misses("mru", trace, 1000));
}

TEST(Auto, AmongOneIsThatOne) {
  const Trace trace = zipf(3000, 50'000);
  for (const char* spec : {"lru", "mru", "lfu:halflife=100"})
    EXPECT_EQ(misses(std::string("auto:among=(") + spec + ")", trace, 300),
              misses(spec, trace, 300));
}

TEST(Auto, NamesWhatIsWrongInItsList) {
  const auto refused = [](std::string_view spec) {
    try {
      make_policy(spec);
    } catch (const PolicyError& error) {
      return std::string(error.what());
    }
    return std::string("made");
  };
  EXPECT_EQ(refused("auto:among=lru+(lfu:halflife=9)+(wtinylfu:climb=true,seed=1)"), "made");
  EXPECT_NE(refused("auto:among=lru+mur").find("no policy 'mur'. Did you mean"), std::string::npos);
  EXPECT_NE(refused("auto:among=lru+auto").find("auto cannot be among its own"), std::string::npos);
}

// One chunk in eight, in an eighth of the memory.
TEST(Shadow, OfASampleMissesItsShareWithinFivePercent) {
  const Trace trace = zipf(50'000, 400'000);
  for (const char* spec : {"lru", "fifo", "wtinylfu"}) {
    policies::Shadow shadow(make_policy(spec), 4000 / 8);
    std::size_t missed = 0;
    for (const Key key : trace)
      if (policies::sampled(key, 8)) missed += shadow.request(key, {});
    const double whole = static_cast<double>(misses(spec, trace, 4000));
    EXPECT_NEAR(static_cast<double>(8 * missed) / whole, 1, 0.05) << spec;
  }
}

TEST(Shadow, OfFullSizeMissesJustAsTheWholeDoes) {
  const Trace trace = zipf(3000, 50'000);
  policies::Shadow shadow(make_policy("lru"), 200);
  std::size_t missed = 0;
  for (const Key key : trace) missed += shadow.request(key, {});
  EXPECT_EQ(missed, misses("lru", trace, 200));
}

TEST(Shadow, NeverHoldsMoreThanItsSize) {
  policies::Shadow shadow(make_policy("fifo"), 10);
  EXPECT_TRUE(shadow.request(Key{1}, {.bytes = 6}));
  EXPECT_TRUE(shadow.request(Key{2}, {.bytes = 4}));
  EXPECT_FALSE(shadow.request(Key{1}, {.bytes = 6}));
  EXPECT_TRUE(shadow.request(Key{3}, {.bytes = 11}));
  EXPECT_FALSE(shadow.request(Key{2}, {.bytes = 4}));
  shadow.resize(5);
  EXPECT_TRUE(shadow.request(Key{1}, {.bytes = 6}));
  shadow.drop(Key{2});
  EXPECT_TRUE(shadow.request(Key{2}, {.bytes = 4}));
}

}  // namespace
}  // namespace holdall
