// The search for a victim among many chunks that may not go.
#include "policies/order.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "policies/registry.hpp"

namespace holdall {
namespace {

using policies::EvictionOrder;
using policies::Index;
using policies::none;

class Order : public testing::Test {
 protected:
  struct Node : policies::Link {
    Key key{};
  };

  void fill(Index n) {
    nodes.resize(n);
    pinned.assign(n, false);
    for (Index i = 0; i < n; ++i) {
      nodes[i].key = Key{i};
      order.push_back(nodes, i);
    }
  }
  void pin(Index first, Index last) {
    for (Index i = first; i < last; ++i) pinned[i] = true;
  }
  Index find() {
    return order.first(nodes, [&](Key key) {
      ++asked;
      return !pinned[static_cast<std::uint64_t>(key)];
    });
  }

  std::vector<Node> nodes;
  std::vector<bool> pinned;
  EvictionOrder order;
  std::size_t asked = 0;
};

TEST_F(Order, IsExactWhileSixtyFourAreRefused) {
  fill(1000);
  pin(0, 64);
  EXPECT_EQ(find(), 64u);
  for (const Index i : {63, 17, 5, 0}) {
    pinned[i] = false;
    EXPECT_EQ(find(), i);
  }
}

TEST_F(Order, FindsAFreedChunkBehindManyRefusedInTheEnd) {
  fill(10'000);
  pin(0, 5000);
  EXPECT_EQ(find(), 5000u);
  pinned[3000] = false;
  int searches = 1;
  while (find() != 3000 && searches < 1000) ++searches;
  EXPECT_LE(searches, 5000 / 64 + 1);
}

TEST_F(Order, GoesOnFromTheFrontWhenAllAreFreed) {
  fill(10'000);
  pin(0, 5000);
  EXPECT_EQ(find(), 5000u);
  pinned.assign(pinned.size(), false);
  for (Index i = 0; i < 10'000; ++i) {
    ASSERT_EQ(find(), i);
    order.erase(nodes, i);
  }
  EXPECT_EQ(find(), none);
}

TEST_F(Order, AsksAllBeforeItGivesUp) {
  fill(10'000);
  pin(0, 10'000);
  EXPECT_EQ(find(), none);
  for (const Index only : {9999, 0, 4321, 70, 4320}) {
    pinned[only] = false;
    EXPECT_EQ(find(), only);
    pinned[only] = true;
  }
  EXPECT_EQ(find(), none);
}

TEST_F(Order, ANewcomerIsFoundWhenAllOthersAreRefused) {
  fill(1000);
  pin(0, 999);
  order.erase(nodes, 999);
  EXPECT_EQ(find(), none);
  order.push_back(nodes, 999);
  asked = 0;
  EXPECT_EQ(find(), 999u);
  EXPECT_LE(asked, 129u);
}

TEST_F(Order, AppendedChunksAreAskedFirstWhenAllOthersAreRefused) {
  fill(1000);
  pin(0, 999);
  order.erase(nodes, 999);
  EXPECT_EQ(find(), none);
  EvictionOrder other;
  other.push_back(nodes, 999);
  order.append(nodes, other);
  EXPECT_TRUE(other.empty());
  asked = 0;
  EXPECT_EQ(find(), 999u);
  EXPECT_LE(asked, 129u);
}

// 99 % refused, and replaced in turn: the first search asks them all, the others few.
TEST_F(Order, AsksFewOfManyRefused) {
  fill(100'000);
  pin(0, 99'000);
  EXPECT_EQ(find(), 99'000u);
  asked = 0;
  for (int i = 0; i < 10'000; ++i) order.move_to_back(nodes, find());
  EXPECT_LE(asked, 10'000u * 130);
}

TEST_F(Order, ChunksMayBeMovedWhileRefused) {
  fill(300);
  pin(0, 200);
  EXPECT_EQ(find(), 200u);
  for (Index i = 0; i < 200; i += 2) order.move_to_back(nodes, i);
  EXPECT_EQ(find(), 200u);
  for (Index i = 1; i < 200; i += 2) order.erase(nodes, i);
  for (Index i = 200; i < 300; ++i) {
    ASSERT_EQ(find(), i);
    order.erase(nodes, i);
  }
  EXPECT_EQ(find(), none);
  pinned.assign(pinned.size(), false);
  EXPECT_EQ(find(), 0u);
}

// Chunks that are pinned for good come to stand in front of all others. A search asks about 130 of
// each queue that a policy has.
TEST(ManyRefused, CostAPolicyLittle) {
  for (const char* spec : {"2q",
                           "arc",
                           "car",
                           "clock",
                           "clockpro",
                           "fifo",
                           "lfu",
                           "lfu:halflife=100",
                           "lirs",
                           "lru",
                           "lruk",
                           "random",
                           "s3fifo",
                           "sieve",
                           "slru",
                           "clock",
                           "fifo",
                           "lfu",
                           "lfu:halflife=100",
                           "lru",
                           "random",
                           "auto",
                           "clean",
                           "gdsf",
                           "hyperbolic",
                           "lfuda",
                           "mglru",
                           "opt",
                           "uvm",
                           "wtinylfu"}) {
    const auto policy = make_policy(spec);
    for (std::uint64_t n = 0; n < 10'000; ++n) policy->inserted(Key{n}, {});
    std::size_t asked = 0;
    const auto may = [&](Key key) {
      ++asked;
      return static_cast<std::uint64_t>(key) % 100 == 0;
    };
    for (int i = 0; i < 10'000; ++i) {
      const std::optional<Key> victim = policy->victim(may);
      ASSERT_TRUE(victim) << spec;
      policy->removed(*victim, Left::evicted);
      policy->inserted(*victim, {});
    }
    EXPECT_LE(asked, 10'000u * 400) << spec;
  }
}

}  // namespace
}  // namespace holdall
