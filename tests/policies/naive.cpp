// Every policy decides as its naive version does, eviction by eviction.
#include "tests/policies/naive.hpp"

#include <random>
#include <string>

#include "policies/registry.hpp"
#include "tests/policies/naive_arc.hpp"
#include "tests/policies/naive_queues.hpp"
#include "tests/policies/naive_recency.hpp"
#include "tests/policies/replay.hpp"

namespace holdall {
namespace {

struct Pair {
  std::string spec;
  std::function<std::unique_ptr<Policy>()> naive;
};

template <class P, class... Arguments>
std::function<std::unique_ptr<Policy>()> naive(Arguments... arguments) {
  return [=] { return std::make_unique<P>(arguments...); };
}

std::vector<Pair> pairs() {
  return {
      {"fifo", naive_fifo},
      {"lru", naive_lru},
      {"mru", naive_mru},
      {"lfu", [] { return naive_lfu(0); }},
      {"lfu:halflife=1", [] { return naive_lfu(1); }},
      {"lfu:halflife=7", [] { return naive_lfu(7); }},
      {"lfu:halflife=500", [] { return naive_lfu(500); }},
      {"clock", [] { return naive_clock(1); }},
      {"clock:bits=2", [] { return naive_clock(2); }},
      {"clock:bits=8", [] { return naive_clock(8); }},
      {"clock:variant=caffeine", naive<NaiveClock>(1, true)},
      {"clock:bits=2,variant=caffeine", naive<NaiveClock>(3, true)},
      {"sieve", naive<NaiveSieve>()},
      {"2q", naive<Naive2q>(0.25, 0.5)},
      {"2q:in=0.5,out=2", naive<Naive2q>(0.5, 2.0)},
      {"slru", naive<NaiveSlru>(true, 4, 0.25)},
      {"slru:segments=2,probation=0.2", naive<NaiveSlru>(true, 2, 0.2)},
      {"slru:variant=caffeine", naive<NaiveSlru>(false, 2, 0.2)},
      {"s3fifo", naive<NaiveS3Fifo>(false, 2)},
      {"s3fifo:promote=1", naive<NaiveS3Fifo>(false, 1)},
      {"s3fifo:variant=caffeine", naive<NaiveS3Fifo>(true, 2)},
      {"arc", naive<NaiveArc>(false, false)},
      {"arc:variant=integer", naive<NaiveArc>(false, true)},
      {"car", naive<NaiveArc>(true, true)},
      {"lirs", naive<NaiveLirs>(0.01, false)},
      {"lirs:hir=0.25", naive<NaiveLirs>(0.25, false)},
      {"lirs:variant=caffeine", naive<NaiveLirs>(0.01, true)},
      {"clockpro", naive<NaiveClockPro>()},
      {"lruk", naive<NaiveLruK>(2u, 0u, std::nullopt)},
      {"lruk:retained=0", naive<NaiveLruK>(2u, 0u, 0u)},
      {"lruk:k=3,correlated=4,retained=50", naive<NaiveLruK>(3u, 4u, 50u)},
  };
}

using Trace = std::vector<Key>;

Trace trace(std::size_t n, const std::function<std::size_t(std::size_t)>& key) {
  Trace t(n);
  for (std::size_t i = 0; i < n; ++i) t[i] = Key{key(i)};
  return t;
}

// Shapes that are known to drive one policy or another to its worst.
std::vector<Trace> traces() {
  std::mt19937_64 random(7);
  return {
      trace(2000, [&](std::size_t) { return random() % 100; }),
      trace(2000, [&](std::size_t) { return random() % (1 + random() % 100); }),
      trace(2000, [](std::size_t i) { return i % 33; }),
      trace(2000, [](std::size_t i) { return i % 64 < 32 ? i % 32 : 31 - i % 32; }),
      trace(2000, [](std::size_t i) { return i % 3 == 0 ? i % 7 : i; }),
      trace(2000, [](std::size_t i) { return i < 1000 ? i % 16 : 16 + i % 40; }),
      trace(2000, [](std::size_t i) { return i / 3; }),
      trace(2000, [](std::size_t i) { return i / 100 + i % 20; }),
      trace(2000, [](std::size_t) { return 5; }),
  };
}

class Naive : public testing::TestWithParam<Pair> {};

TEST_P(Naive, EvictsTheSameChunksInTheSameOrder) {
  const std::vector<Trace> all = traces();
  for (std::size_t t = 0; t < all.size(); ++t)
    for (const std::size_t capacity : {1, 2, 3, 10, 32, 64}) {
      const auto naive = GetParam().naive();
      const Replay mine = replay(*make_policy(GetParam().spec), all[t], capacity);
      const Replay its = replay(*naive, all[t], capacity);
      EXPECT_EQ(mine.evicted, its.evicted) << "trace " << t << ", capacity " << capacity;
    }
}

TEST_P(Naive, GivesTheSameVictimsWhenSomeMayNotGo) {
  std::mt19937_64 random(11);
  const auto mine = make_policy(GetParam().spec);
  const auto its = GetParam().naive();
  for (int i = 0; i < 20'000; ++i) {
    if (random() % 500 == 0) {
      const std::uint64_t capacity = 1 + random() % 48;
      mine->resize(capacity);
      its->resize(capacity);
    }
    const Key key{random() % 48};
    switch (random() % 4) {
      case 0:
        mine->inserted(key, {});
        its->inserted(key, {});
        break;
      case 1:
        mine->accessed(key, {});
        its->accessed(key, {});
        break;
      case 2: {
        const std::uint64_t pinned = random() | random();
        const auto may = [&](Key k) { return (pinned >> static_cast<std::uint64_t>(k) & 1) == 0; };
        const std::optional<Key> victim = mine->victim(may);
        ASSERT_EQ(victim, its->victim(may)) << "step " << i;
        if (!victim || random() % 2 == 0) break;
        mine->removed(*victim, Left::evicted);
        its->removed(*victim, Left::evicted);
        break;
      }
      default: {
        if (random() % 4 != 0) break;
        const Left why = random() % 2 == 0 ? Left::evicted : Left::dropped;
        mine->removed(key, why);
        its->removed(key, why);
      }
    }
  }
}

std::string name(const testing::TestParamInfo<Pair>& info) {
  std::string text = info.param.spec;
  std::replace_if(
      text.begin(), text.end(), [](char c) { return !std::isalnum(c); }, '_');
  return text;
}

INSTANTIATE_TEST_SUITE_P(Policies, Naive, testing::ValuesIn(pairs()), name);

}  // namespace
}  // namespace holdall
