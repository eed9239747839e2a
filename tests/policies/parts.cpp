// The list, the key map and the slab that policies are made of.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <unordered_map>
#include <vector>

#include "policies/key_map.hpp"
#include "policies/list.hpp"
#include "policies/slab.hpp"

namespace holdall::policies {
namespace {

std::vector<Index> forward(const std::vector<Link>& nodes, const List& list) {
  std::vector<Index> order;
  for (Index i = list.front(); i != none; i = nodes[i].next) order.push_back(i);
  return order;
}
std::vector<Index> backward(const std::vector<Link>& nodes, const List& list) {
  std::vector<Index> order;
  for (Index i = list.back(); i != none; i = nodes[i].prev) order.insert(order.begin(), i);
  return order;
}

TEST(List, KeepsItsOrderThroughRandomSteps) {
  std::mt19937 random(1);
  std::vector<Link> nodes(20);
  List list;
  std::vector<Index> model;
  for (int step = 0; step < 10'000; ++step) {
    const Index i = random() % 20;
    const auto at = std::find(model.begin(), model.end(), i);
    if (at == model.end()) {
      const std::size_t before = random() % (model.size() + 1);
      list.insert_before(nodes, before == model.size() ? none : model[before], i);
      model.insert(model.begin() + static_cast<std::ptrdiff_t>(before), i);
    } else {
      model.erase(at);
      if (random() % 2) {
        list.move_to_back(nodes, i);
        model.push_back(i);
      } else {
        list.erase(nodes, i);
      }
    }
    ASSERT_EQ(forward(nodes, list), model);
    ASSERT_EQ(backward(nodes, list), model);
    ASSERT_EQ(list.empty(), model.empty());
  }
}

TEST(List, AppendsAnotherAndEmptiesIt) {
  std::vector<Link> nodes(4);
  List a, b;
  a.append(nodes, b);
  EXPECT_TRUE(a.empty());
  b.push_back(nodes, 2);
  b.push_back(nodes, 0);
  a.append(nodes, b);
  EXPECT_TRUE(b.empty());
  b.push_back(nodes, 3);
  a.append(nodes, b);
  EXPECT_EQ(forward(nodes, a), (std::vector<Index>{2, 0, 3}));
  EXPECT_EQ(backward(nodes, a), (std::vector<Index>{2, 0, 3}));
}

// Keys that are dense, that differ in high bits only, and that have nothing in common.
TEST(KeyMap, FindsWhatAMapFinds) {
  for (const int shape : {0, 1, 2}) {
    std::mt19937_64 random(2);
    KeyMap map;
    std::unordered_map<std::uint64_t, Index> model;
    for (int step = 0; step < 100'000; ++step) {
      const std::uint64_t n = random() % 500;
      const std::uint64_t raw = shape == 0 ? n : shape == 1 ? n << 50 : n * 0x123456789abcdefb;
      const auto at = model.find(raw);
      ASSERT_EQ(map.find(Key{raw}), at == model.end() ? none : at->second);
      if (random() % 2) {
        map.erase(Key{raw});
        model.erase(raw);
      } else if (at == model.end()) {
        const Index index = static_cast<Index>(random() % 1000);
        map.insert(Key{raw}, index);
        model.emplace(raw, index);
      }
      ASSERT_EQ(map.size(), model.size());
    }
  }
}

// Dense keys index an array, and what was hashed before they were many moves there.
TEST(KeyMap, FindsKeysThatBecomeDense) {
  constexpr std::uint64_t prime = 1'500'007;
  const auto key = [](Index i) { return Key{std::uint64_t{i} * 7919 % prime}; };
  KeyMap map;
  for (Index i = 0; i < 500'000; ++i) map.insert(key(i), i);
  map.insert(Key{std::uint64_t{1} << 40}, 7);
  for (Index i = 0; i < 500'000; ++i) ASSERT_EQ(map.find(key(i)), i);
  EXPECT_EQ(map.find(key(500'000)), none);
  EXPECT_EQ(map.find(Key{prime}), none);
  EXPECT_EQ(map.find(Key{std::uint64_t{1} << 40}), 7u);
  for (Index i = 0; i < 500'000; ++i) map.erase(key(i));
  EXPECT_EQ(map.size(), 1u);
  map.erase(Key{3});
  EXPECT_EQ(map.size(), 1u);
}

TEST(KeyMap, TakesTheLargestAndTheSmallestKey) {
  KeyMap map;
  map.insert(Key{0}, 1);
  map.insert(Key{~std::uint64_t{0}}, 2);
  EXPECT_EQ(map.find(Key{0}), 1u);
  EXPECT_EQ(map.find(Key{~std::uint64_t{0}}), 2u);
}

TEST(Slab, GivesNumbersOutAgain) {
  Slab<int> slab;
  const Index a = slab.take(1), b = slab.take(2);
  slab.give(a);
  EXPECT_EQ(slab.take(3), a);
  EXPECT_EQ(slab[a], 3);
  EXPECT_EQ(slab[b], 2);
}

}  // namespace
}  // namespace holdall::policies
