// No policy does better than the optimum, and what that makes of knowledge that it lacks.
#include "policies/registry.hpp"
#include "tests/policies/naive_least.hpp"
#include "tests/policies/played.hpp"

namespace holdall {
namespace {

TEST(Optimum, NoPolicyDoesBetter) {
  for (const Trace& trace : traces())
    for (const std::size_t capacity : {1, 2, 5, 16, 40, 64}) {
      const std::size_t must_insert = played(*make_policy("opt"), trace, capacity).misses;
      const std::size_t may_bypass =
          played(*make_policy("opt:bypass=true"), trace, capacity).misses;
      EXPECT_LE(may_bypass, must_insert);
      for (const PolicyInfo& info : list_policies()) {
        const Outcome its = played(*make_policy(info.name), trace, capacity);
        EXPECT_LE(may_bypass, its.misses) << info.name;
        if (its.refused == 0) {
          EXPECT_LE(must_insert, its.misses) << info.name;
        }
      }
      EXPECT_LE(may_bypass, played(*make_policy("gdsf:variant=caffeine"), trace, capacity).misses);
    }
}

TEST(Optimum, WithoutKnowledgeIsLru) {
  std::mt19937_64 random(5);
  for (const char* spec : {"opt", "opt:bypass=true"}) {
    const auto opt = make_policy(spec), lru = naive_lru();
    opt->resize(10);
    for (int i = 0; i < 5000; ++i) {
      const Key key{random() % 30};
      EXPECT_TRUE(opt->admit(key, {}));
      opt->inserted(key, {});
      lru->inserted(key, {});
      const std::optional<Key> victim = opt->victim([](Key) { return true; });
      ASSERT_EQ(victim, lru->victim([](Key) { return true; }));
      if (i % 2 == 0) continue;
      opt->removed(*victim, Left::evicted);
      lru->removed(*victim, Left::evicted);
    }
  }
}

TEST(Optimum, FollowsAHintAboutAResidentChunk) {
  const auto opt = make_policy("opt");
  opt->inserted(Key{1}, {.next_use = 10});
  opt->inserted(Key{2}, {.next_use = 20});
  const auto any = [](Key) { return true; };
  EXPECT_EQ(opt->victim(any), Key{2});
  opt->hinted(Key{1}, 30);
  EXPECT_EQ(opt->victim(any), Key{1});
  opt->hinted(Key{2}, Request::never);
  EXPECT_EQ(opt->victim(any), Key{2});
}

TEST(Optimum, KeepsAHintUntilThePrefetchThatItIsFor) {
  const auto opt = make_policy("opt");
  const auto any = [](Key) { return true; };
  opt->inserted(Key{1}, {.next_use = 10});
  opt->hinted(Key{2}, 5);
  opt->inserted(Key{2}, {.prefetch = true});
  EXPECT_EQ(opt->victim(any), Key{1});
  opt->accessed(Key{2}, {});  // the use that was hinted
  EXPECT_EQ(opt->victim(any), Key{2});
}

}  // namespace
}  // namespace holdall
