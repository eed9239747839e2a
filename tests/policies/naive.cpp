// Every policy decides as its naive version does, eviction by eviction.
#include "tests/policies/naive.hpp"

#include <random>
#include <string>

#include "policies/registry.hpp"
#include "tests/policies/replay.hpp"

namespace holdall {
namespace {

struct Pair {
  std::string spec;
  std::function<std::unique_ptr<Policy>()> naive;
};

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
      case 3:
        if (random() % 4 != 0) break;
        mine->removed(key, Left::evicted);
        its->removed(key, Left::evicted);
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
