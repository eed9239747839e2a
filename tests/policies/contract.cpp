// What every policy must do, whatever it evicts: run over all that are registered.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

#include "policies/registry.hpp"
#include "tests/policies/replay.hpp"

namespace holdall {
namespace {

std::vector<std::string> specs() {
  std::vector<std::string> all = {"clock:bits=2",   "clock:bits=8",    "lfu:halflife=1",
                                  "lfu:halflife=8", "lfu:halflife=64", "random:seed=9"};
  for (const char* spec : {"arc:variant=integer",
                           "clock:bits=2,variant=caffeine",
                           "clock:variant=caffeine",
                           "clockpro:ghost=0",
                           "clockpro:least=0.3,most=0.5",
                           "lirs:hir=0.3",
                           "lirs:hir=1",
                           "lirs:variant=caffeine",
                           "lruk:correlated=5,retained=20",
                           "lruk:k=1",
                           "lruk:k=3",
                           "lruk:retained=0",
                           "s3fifo:promote=1",
                           "s3fifo:small=1",
                           "s3fifo:variant=caffeine",
                           "slru:segments=1",
                           "slru:variant=caffeine",
                           "2q:in=1",
                           "2q:in=0,out=0",
                           "admit:by=bypass,of=mru",
                           "admit:by=tinylfu,of=(wtinylfu:climb=true,window=0.1)",
                           "auto:among=lru",
                           "auto:among=mru+(lfu:halflife=9)+wtinylfu,sample=2,margin=0,memory=0.1",
                           "clean:of=clock,among=1",
                           "clean:of=(lfu:halflife=9),among=70",
                           "clean:of=wtinylfu",
                           "gdsf:per=byte,write=0",
                           "gdsf:variant=caffeine",
                           "gdsf:variant=webcachesim",
                           "hyperbolic:samples=3,seed=1",
                           "lfuda:variant=webcachesim",
                           "mglru:generations=2,every=1",
                           "mglru:every=50",
                           "opt:bypass=true",
                           "uvm:block=16",
                           "wtinylfu:climb=true",
                           "wtinylfu:window=0",
                           "wtinylfu:window=1,protected=0",
                           "wtinylfu:window=0.5,climb=true,seed=3"})
    all.push_back(spec);
  for (const PolicyInfo& info : list_policies()) all.push_back(info.name);
  return all;
}

// Keys as an engine may make them: range number above, chunk number below.
Key chunk(std::uint64_t n) { return Key{(n % 3) << 48 | n}; }

class Contract : public testing::TestWithParam<std::string> {
 protected:
  void insert(std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t n = first; n < last; ++n) policy->inserted(chunk(n), {});
  }
  // Evicts until there is no more.
  std::multiset<Key> drain() {
    std::multiset<Key> gone;
    while (const std::optional<Key> victim = policy->victim(any)) {
      gone.insert(*victim);
      policy->removed(*victim, Left::evicted);
      if (gone.size() > 100'000) break;
    }
    return gone;
  }

  std::unique_ptr<Policy> policy = make_policy(GetParam());
};

TEST_P(Contract, AnEmptyOneHasNoVictim) { EXPECT_EQ(policy->victim(any), std::nullopt); }

TEST_P(Contract, EveryChunkIsEvictedOnce) {
  insert(0, 64);
  for (int i = 0; i < 3; ++i)
    for (std::uint64_t n = 0; n < 64; n += 2 + i) policy->accessed(chunk(n), {});
  std::multiset<Key> all;
  for (std::uint64_t n = 0; n < 64; ++n) all.insert(chunk(n));
  EXPECT_EQ(drain(), all);
  EXPECT_EQ(policy->victim(any), std::nullopt);
}

TEST_P(Contract, ThereIsNoVictimWhenNoChunkMayGo) {
  insert(0, 64);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(policy->victim(no_chunk), std::nullopt);
  EXPECT_EQ(drain().size(), 64u);
}

TEST_P(Contract, TheOneChunkThatMayGoIsFound) {
  insert(0, 1000);
  for (std::uint64_t n = 0; n < 1000; ++n) {
    const auto only = [&](Key key) { return key == chunk(n); };
    EXPECT_EQ(policy->victim(only), chunk(n));
  }
}

TEST_P(Contract, ARefusedVictimStaysAndIsOfferedAgain) {
  insert(0, 10);
  std::set<Key> refused;
  while (const auto victim = policy->victim([&](Key key) { return !refused.contains(key); }))
    ASSERT_TRUE(refused.insert(*victim).second);
  EXPECT_EQ(refused.size(), 10u);
  EXPECT_EQ(drain().size(), 10u);
}

TEST_P(Contract, RemovedMeansGone) {
  insert(0, 10);
  policy->removed(chunk(3), Left::evicted);
  policy->removed(chunk(3), Left::evicted);
  const std::multiset<Key> gone = drain();
  EXPECT_EQ(gone.size(), 9u);
  EXPECT_FALSE(gone.contains(chunk(3)));
}

TEST_P(Contract, RemovingAChunkThatIsNotResidentIsIgnored) {
  policy->removed(chunk(1), Left::evicted);
  insert(0, 1);
  policy->removed(chunk(1), Left::evicted);
  EXPECT_EQ(policy->victim(any), chunk(0));
}

TEST_P(Contract, AccessToAChunkThatIsNotResidentInsertsIt) {
  policy->accessed(chunk(5), {});
  EXPECT_EQ(policy->victim(any), chunk(5));
}

TEST_P(Contract, InsertingTwiceIsAHit) {
  const auto twin = make_policy(GetParam());
  for (std::uint64_t n : {1, 2, 3, 2, 1, 1}) {
    policy->inserted(chunk(n), {});
    n == 3 ? twin->inserted(chunk(n), {}) : twin->accessed(chunk(n), {});
    EXPECT_EQ(policy->victim(any), twin->victim(any));
  }
  EXPECT_EQ(drain().size(), 3u);
}

TEST_P(Contract, StartsAfreshOnceEmpty) {
  for (int round = 0; round < 3; ++round) {
    insert(0, 20);
    EXPECT_EQ(drain().size(), 20u);
    EXPECT_EQ(policy->victim(any), std::nullopt);
  }
}

TEST_P(Contract, TheSameCallsGiveTheSameVictims) {
  const auto twin = make_policy(GetParam());
  std::mt19937_64 random(1);
  std::vector<Key> trace(5000);
  for (Key& key : trace) key = Key{random() % (1 + random() % 99)};
  EXPECT_EQ(replay(*policy, trace, 20).evicted, replay(*twin, trace, 20).evicted);
}

TEST_P(Contract, WorksAtEveryCapacity) {
  std::mt19937_64 random(2);
  std::vector<Key> trace(3000);
  for (Key& key : trace) key = Key{random() % 80};
  for (std::size_t capacity = 1; capacity <= 64; ++capacity) {
    const auto fresh = make_policy(GetParam());
    const Replay result = replay(*fresh, trace, capacity);
    EXPECT_EQ(result.evicted.size() + result.turned_away, result.misses - capacity);
  }
}

TEST_P(Contract, SurvivesAnyOrderOfCalls) {
  std::mt19937_64 random(3);
  for (const std::uint64_t keys : {1, 2, 7, 64, 1000}) {
    std::set<Key> resident, pinned;
    policy = make_policy(GetParam());
    const auto may = [&](Key key) {
      EXPECT_TRUE(resident.contains(key)) << "asked about a chunk that is not resident";
      return !pinned.contains(key);
    };
    for (int i = 0; i < 20'000; ++i) {
      const Key key = chunk(random() % keys);
      switch (random() % 9) {
        case 8:
          policy->admit(key, {});
          if (random() % 2) break;
          [[fallthrough]];
        case 0:
        case 1:
          policy->inserted(key, {.write = true});
          resident.insert(key);
          break;
        case 2:
          policy->accessed(key, {.prefetch = true});
          resident.insert(key);
          break;
        case 3:
          policy->removed(key, random() % 2 ? Left::evicted : Left::dropped);
          resident.erase(key);
          break;
        case 4:
          if (!pinned.erase(key)) pinned.insert(key);
          break;
        case 5:
          policy->resize(1 + random() % 64);
          break;
        default: {
          const std::optional<Key> victim = policy->victim(may);
          if (victim) {
            ASSERT_TRUE(resident.contains(*victim));
            ASSERT_FALSE(pinned.contains(*victim));
            if (random() % 2) {
              policy->removed(*victim, Left::evicted);
              resident.erase(*victim);
            }
          } else {
            for (const Key k : resident) ASSERT_TRUE(pinned.contains(k)) << "one might go";
          }
        }
      }
    }
    EXPECT_EQ(drain(), std::multiset<Key>(resident.begin(), resident.end()));
  }
}

std::string name(const testing::TestParamInfo<std::string>& info) {
  std::string text = info.param;
  std::replace_if(
      text.begin(), text.end(), [](char c) { return !std::isalnum(c); }, '_');
  return text;
}

INSTANTIATE_TEST_SUITE_P(Policies, Contract, testing::ValuesIn(specs()), name);

}  // namespace
}  // namespace holdall
