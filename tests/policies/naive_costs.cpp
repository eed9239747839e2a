// The policies that know costs, ages or the future decide as their naive versions do, eviction by
// eviction.
#include <cctype>
#include <string>

#include "policies/registry.hpp"
#include "tests/policies/naive_least.hpp"
#include "tests/policies/naive_lists.hpp"
#include "tests/policies/played.hpp"

namespace holdall {
namespace {

using Maker = std::function<std::unique_ptr<Policy>()>;

struct Pair {
  std::string spec;
  Maker naive;
};

std::vector<Pair> pairs() {
  return {
      {"opt", [] { return naive_opt(false); }},
      {"opt:bypass=true", [] { return naive_opt(true); }},
      {"lfuda", [] { return naive_greedy_dual(0); }},
      {"gdsf", [] { return naive_greedy_dual(1); }},
      {"gdsf:write=3", [] { return naive_greedy_dual(3); }},
      {"gdsf:per=byte,write=0.5", [] { return naive_greedy_dual(0.5); }},
      {"hyperbolic", [] { return std::make_unique<NaiveHyperbolic>(); }},
      {"uvm", [] { return std::make_unique<NaiveUvm>(1); }},
      {"uvm:block=8", [] { return std::make_unique<NaiveUvm>(8); }},
      {"mglru", [] { return std::make_unique<NaiveMglru>(4, 0); }},
      {"mglru:generations=2,every=5", [] { return std::make_unique<NaiveMglru>(2, 5); }},
      {"mglru:generations=6,every=100", [] { return std::make_unique<NaiveMglru>(6, 100); }},
      {"clean", [] { return std::make_unique<NaiveClean>(8); }},
      {"clean:of=lru,among=1", [] { return std::make_unique<NaiveClean>(1); }},
      {"clean:among=50", [] { return std::make_unique<NaiveClean>(50); }},
  };
}

class NaiveCosts : public testing::TestWithParam<Pair> {};

TEST_P(NaiveCosts, EvictsTheSameChunksInTheSameOrder) {
  const std::vector<Trace> all = traces();
  for (std::size_t t = 0; t < all.size(); ++t)
    for (const std::size_t capacity : {1, 2, 3, 7, 16, 33, 64}) {
      const Outcome mine = played(*make_policy(GetParam().spec), all[t], capacity);
      const Outcome its = played(*GetParam().naive(), all[t], capacity);
      EXPECT_EQ(mine.evicted, its.evicted) << "trace " << t << ", capacity " << capacity;
      EXPECT_EQ(mine.misses, its.misses) << "trace " << t << ", capacity " << capacity;
    }
}

TEST_P(NaiveCosts, GivesTheSameVictimsWhenSomeMayNotGo) {
  std::mt19937_64 random(11);
  const auto mine = make_policy(GetParam().spec);
  const auto its = GetParam().naive();
  std::uint64_t time = 0;
  for (int i = 0; i < 20'000; ++i) {
    const Key key{random() % 48};
    const Request request{
        .write = random() % 4 == 0,
        .next_use = random() % 4 == 0 ? Request::never : ++time * 7919 % 1'000'003};
    switch (random() % 4) {
      case 0:
        mine->inserted(key, request);
        its->inserted(key, request);
        break;
      case 1:
        mine->accessed(key, request);
        its->accessed(key, request);
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

INSTANTIATE_TEST_SUITE_P(Policies, NaiveCosts, testing::ValuesIn(pairs()),
                         [](const testing::TestParamInfo<Pair>& info) {
                           std::string text = info.param.spec;
                           for (char& c : text)
                             if (!std::isalnum(c)) c = '_';
                           return text;
                         });

TEST(Gdsf, ALargeChunkGoesBeforeSmallOnesUnlessCostIsPerByte) {
  for (const bool per_byte : {false, true}) {
    const auto gdsf = make_policy(per_byte ? "gdsf:per=byte" : "gdsf");
    gdsf->inserted(Key{1}, {.bytes = 2});
    gdsf->inserted(Key{2}, {.bytes = 8});
    EXPECT_EQ(gdsf->victim([](Key) { return true; }), per_byte ? Key{1} : Key{2});
  }
}

TEST(Hyperbolic, ASmallSampleStillPrefersTheLesser) {
  const auto few = make_policy("hyperbolic:samples=8"), all = make_policy("hyperbolic");
  const Trace zipf = traces()[1];
  const std::size_t exact = played(*all, zipf, 40).misses, sampled = played(*few, zipf, 40).misses;
  const std::size_t blind = played(*make_policy("random"), zipf, 40).misses;
  EXPECT_LT(sampled, blind);
  EXPECT_LT(exact, blind);
}

}  // namespace
}  // namespace holdall
