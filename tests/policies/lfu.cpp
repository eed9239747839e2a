// LFU: counts, ties and ageing.
#include <gtest/gtest.h>

#include "policies/registry.hpp"
#include "tests/policies/replay.hpp"

namespace holdall {
namespace {

void use(Policy& policy, std::initializer_list<std::uint64_t> chunks) {
  for (const std::uint64_t n : chunks) policy.inserted(Key{n}, {});
}

TEST(Lfu, EvictsTheFewestUses) {
  const auto lfu = make_policy("lfu");
  use(*lfu, {1, 2, 3, 1, 1, 3});
  EXPECT_EQ(lfu->victim(any), Key{2});
}

TEST(Lfu, EvictsTheLongestUnusedAmongEquals) {
  const auto lfu = make_policy("lfu");
  use(*lfu, {1, 2, 3, 2, 1, 3});
  EXPECT_EQ(lfu->victim(any), Key{2});
}

TEST(Lfu, ForgetsTheCountOfAChunkThatLeft) {
  const auto lfu = make_policy("lfu");
  use(*lfu, {1, 1, 1, 1, 2, 2});
  lfu->removed(Key{1}, Left::evicted);
  use(*lfu, {1});
  EXPECT_EQ(lfu->victim(any), Key{1});
}

// Ten uses long ago, against one a step ever since: the newcomer of every step.
TEST(Lfu, WithoutAgeingWhatWasHotStays) {
  const auto lfu = make_policy("lfu");
  use(*lfu, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
  for (std::uint64_t n = 2; n < 100; ++n) {
    use(*lfu, {n, n});
    EXPECT_EQ(lfu->victim(any), Key{n});
    lfu->removed(Key{n}, Left::evicted);
  }
}

TEST(Lfu, WithAgeingWhatWasHotGoes) {
  const auto lfu = make_policy("lfu:halflife=10");
  use(*lfu, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1});  // 10; 5 from the next use on
  use(*lfu, {2, 2, 2, 2});
  EXPECT_EQ(lfu->victim(any), Key{2});
  use(*lfu, {2, 2});
  EXPECT_EQ(lfu->victim(any), Key{1});
}

TEST(Lfu, HalvesAfterEveryHalflifeUses) {
  const auto lfu = make_policy("lfu:halflife=4");
  use(*lfu, {1, 1, 1, 2});  // counts 3 and 1
  use(*lfu, {2});           // halved to 1 and 0, then 1 and 1: 1 is longer unused
  EXPECT_EQ(lfu->victim(any), Key{1});
}

TEST(Lfu, ANewcomerIsAheadOfWhatAgedToNothing) {
  const auto lfu = make_policy("lfu:halflife=2");
  use(*lfu, {1, 2, 3});
  EXPECT_EQ(lfu->victim(any), Key{1});
  lfu->removed(Key{1}, Left::evicted);
  EXPECT_EQ(lfu->victim(any), Key{2});
  lfu->removed(Key{2}, Left::evicted);
  EXPECT_EQ(lfu->victim(any), Key{3});
}

}  // namespace
}  // namespace holdall
