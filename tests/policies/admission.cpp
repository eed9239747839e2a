// What is let in, and what is brought in besides.
#include "policies/admission.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "policies/prefetch.hpp"
#include "tests/policies/replay.hpp"

namespace holdall {
namespace {

// A memory of `capacity` chunks whose misses may be refused.
std::size_t misses(Policy& policy, const std::vector<Key>& trace, std::size_t capacity) {
  std::set<Key> resident;
  std::size_t count = 0;
  policy.resize(capacity);
  for (const Key key : trace) {
    if (resident.contains(key)) {
      policy.accessed(key, {});
      continue;
    }
    ++count;
    if (!policy.admit(key, {})) continue;
    if (resident.size() == capacity) {
      const Key victim = policy.victim(any).value();
      EXPECT_EQ(resident.erase(victim), 1u);
      policy.removed(victim, Left::evicted);
    }
    policy.inserted(key, {});
    resident.insert(key);
  }
  return count;
}

// 40 chunks that are used again and again, between chunks that are used once.
std::vector<Key> hot_and_scan() {
  std::mt19937_64 random(1);
  std::vector<Key> trace(20'000);
  for (std::size_t i = 0; i < trace.size(); ++i)
    trace[i] = i % 2 == 0 ? Key{random() % 40} : Key{1000 + i};
  return trace;
}

TEST(Admission, AlwaysChangesNothing) {
  for (const char* spec : {"lru", "wtinylfu", "mru"})
    EXPECT_EQ(misses(*make_policy(std::string("admit:by=always,of=") + spec), hot_and_scan(), 40),
              misses(*make_policy(spec), hot_and_scan(), 40));
}

TEST(Admission, TinyLfuKeepsAScanOut) {
  const std::size_t all = misses(*make_policy("lru"), hot_and_scan(), 50);
  const std::size_t filtered = misses(*make_policy("admit"), hot_and_scan(), 50);
  EXPECT_GT(all, 13'000u);
  EXPECT_LT(filtered, 10'000u + 1'000u);  // 10,000 are the scan's own
}

TEST(Admission, BypassAdmitsAtTheSecondUse) {
  const auto policy = make_policy("admit:by=bypass");
  policy->resize(100);
  EXPECT_FALSE(policy->admit(Key{1}, {}));
  EXPECT_FALSE(policy->admit(Key{2}, {}));
  EXPECT_TRUE(policy->admit(Key{1}, {}));
}

TEST(Admission, BypassAdmitsWritesAndPrefetchesAtOnce) {
  const auto policy = make_policy("admit:by=(bypass:uses=3)");
  EXPECT_TRUE(policy->admit(Key{1}, {.write = true}));
  EXPECT_TRUE(policy->admit(Key{2}, {.prefetch = true}));
  EXPECT_FALSE(policy->admit(Key{2}, {}));  // a prefetch is no use
  EXPECT_FALSE(policy->admit(Key{2}, {}));
  EXPECT_TRUE(policy->admit(Key{2}, {}));
}

TEST(Admission, WhatThePolicyRefusesIsRefused) {
  const auto policy = with_admission(make_admission("always"), make_policy("opt:bypass=true"));
  policy->resize(1);
  policy->inserted(Key{1}, {.next_use = 5});
  EXPECT_FALSE(policy->admit(Key{2}, {.next_use = 9}));
  EXPECT_TRUE(policy->admit(Key{2}, {.next_use = 3}));
}

TEST(Admission, OneOfOnesOwnIsFoundByName) {
  class Odd : public Admission {
   public:
    bool admit(Key chunk, const Request&, std::optional<Key>) override {
      return static_cast<std::uint64_t>(chunk) % 2 == 1;
    }
  };
  register_admission({"test-odd", "odd chunks"},
                     [](Parameters&) { return std::make_unique<Odd>(); });
  const auto policy = make_policy("admit:by=test-odd,of=fifo");
  EXPECT_TRUE(policy->admit(Key{3}, {}));
  EXPECT_FALSE(policy->admit(Key{4}, {}));
}

std::string refusal(const std::function<void()>& make) {
  try {
    make();
  } catch (const PolicyError& error) {
    return error.what();
  }
  return "made";
}

TEST(Admission, UnknownNamesAreAnsweredWithTheNearest) {
  EXPECT_NE(refusal([] { make_admission("bypas"); }).find("no admission 'bypas'. Did you mean"),
            std::string::npos);
  EXPECT_EQ(refusal([] { make_admission("bypass:use=2"); }),
            "admission 'bypass:use=2': no parameter 'use'. Did you mean 'uses'? It takes uses");
  EXPECT_NE(refusal([] { make_prefetch("stride:ahead=0"); }).find("ahead is a whole number from 1"),
            std::string::npos);
  EXPECT_NE(refusal([] { make_prefetch("tree:block=6"); }).find("block is a power of two"),
            std::string::npos);
}

class Prefetching : public testing::Test {
 protected:
  std::vector<std::uint64_t> request(std::uint64_t chunk, bool resident = false) {
    std::vector<Key> wanted;
    prefetch->requested(Key{100 + chunk}, range, resident, wanted);
    std::vector<std::uint64_t> numbers;
    for (const Key key : wanted) numbers.push_back(static_cast<std::uint64_t>(key) - 100);
    return numbers;
  }
  using Chunks = std::vector<std::uint64_t>;

  KeyRange range{Key{100}, 20};
  std::unique_ptr<Prefetch> prefetch;
};

TEST_F(Prefetching, NoneWantsNothing) {
  prefetch = make_prefetch("none");
  EXPECT_EQ(request(3), Chunks{});
}

TEST_F(Prefetching, NextWantsTheNextOfAMissWithinTheRange) {
  prefetch = make_prefetch("next:n=3");
  EXPECT_EQ(request(3), (Chunks{4, 5, 6}));
  EXPECT_EQ(request(3, true), Chunks{});
  EXPECT_EQ(request(18), Chunks{19});
  EXPECT_EQ(request(19), Chunks{});
}

TEST_F(Prefetching, StrideFollowsThreeEquallyFarApart) {
  prefetch = make_prefetch("stride:ahead=2");
  EXPECT_EQ(request(0), Chunks{});
  EXPECT_EQ(request(3), Chunks{});
  EXPECT_EQ(request(6), (Chunks{9, 12}));
  EXPECT_EQ(request(6), Chunks{});  // again the same: no step
  EXPECT_EQ(request(9, true), (Chunks{12, 15}));
  EXPECT_EQ(request(8), Chunks{});
  EXPECT_EQ(request(7), (Chunks{6, 5}));
  EXPECT_EQ(request(6), (Chunks{5, 4}));
}

TEST_F(Prefetching, StrideKeepsRangesApart) {
  prefetch = make_prefetch("stride:ahead=1");
  const KeyRange other{Key{500}, 50};
  std::vector<Key> wanted;
  for (std::uint64_t i = 0; i < 3; ++i) {
    const Chunks mine = request(2 * i);
    EXPECT_EQ(mine, i < 2 ? Chunks{} : Chunks{6});
    prefetch->requested(Key{500 + 5 * i}, other, false, wanted);
  }
  EXPECT_EQ(wanted, std::vector<Key>{Key{515}});
}

TEST_F(Prefetching, TreeBringsInTheRestOfWhatIsDense) {
  prefetch = make_prefetch("tree:block=8");
  EXPECT_EQ(request(0), Chunks{});  // one of two is not over 51 %
  prefetch->inserted(Key{100}, range);
  EXPECT_EQ(request(1), Chunks{});  // two of four are not
  prefetch->inserted(Key{101}, range);
  EXPECT_EQ(request(2), Chunks{3});  // three of four; of eight they are not
  prefetch->inserted(Key{102}, range);
  prefetch->inserted(Key{103}, range);
  EXPECT_EQ(request(6), (Chunks{4, 5, 7}));  // five of eight
  prefetch->removed(Key{100}, range);
  EXPECT_EQ(request(6), Chunks{});
}

// Counts and bounds against a plain set, with a block that the end of the range cuts short.
TEST_F(Prefetching, TreeWantsWhatAPlainCountDoes) {
  std::mt19937_64 random(4);
  for (const std::uint64_t block : {2, 4, 64, 512}) {
    range = {Key{100}, 700};
    prefetch = make_prefetch("tree:density=40,block=" + std::to_string(block));
    std::set<std::uint64_t> resident;
    for (int i = 0; i < 3000; ++i) {
      const std::uint64_t chunk = random() % 700;
      if (resident.contains(chunk)) {
        EXPECT_EQ(request(chunk, true), Chunks{});
        if (random() % 2 == 0) continue;
        resident.erase(chunk);
        prefetch->removed(Key{100 + chunk}, range);
        continue;
      }
      Chunks expected;
      for (std::uint64_t size = 2; size <= block; size *= 2) {
        Chunks absent;
        std::uint64_t all = 0, there = 0;
        for (std::uint64_t c = chunk / size * size; c < chunk / size * size + size && c < 700;
             ++c) {
          ++all;
          if (c == chunk || resident.contains(c))
            ++there;
          else
            absent.push_back(c);
        }
        if (there * 100 > all * 40) expected = absent;
      }
      ASSERT_EQ(request(chunk), expected) << block << ", step " << i;
      resident.insert(chunk);
      prefetch->inserted(Key{100 + chunk}, range);
    }
  }
}

}  // namespace
}  // namespace holdall
