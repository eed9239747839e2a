// The policies that know costs, ages or the future decide as their naive versions do, eviction by
// eviction; and none does better than the optimum.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>

#include "policies/registry.hpp"

namespace holdall {
namespace {

using Trace = std::vector<Key>;

struct Outcome {
  std::size_t misses = 0, refused = 0;
  std::vector<Key> evicted;
};

// Asks `admit` on every miss, tells every next use, and writes every fifth key.
Outcome played(Policy& policy, const Trace& trace, std::size_t capacity) {
  Outcome result;
  std::vector<std::uint64_t> next(trace.size());
  std::map<Key, std::uint64_t> seen;
  for (std::size_t i = trace.size(); i-- > 0;) {
    next[i] = seen.contains(trace[i]) ? seen[trace[i]] : Request::never;
    seen[trace[i]] = i;
  }
  std::set<Key> resident;
  policy.resize(capacity);
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const bool write = static_cast<std::uint64_t>(trace[i]) % 5 == 0;
    const Request request{.write = write, .next_use = next[i]};
    if (resident.contains(trace[i])) {
      policy.accessed(trace[i], request);
      continue;
    }
    ++result.misses;
    if (!policy.admit(trace[i], request)) {
      ++result.refused;
      continue;
    }
    if (resident.size() == capacity) {
      const Key victim = policy.victim([](Key) { return true; }).value();
      EXPECT_EQ(resident.erase(victim), 1u);
      policy.removed(victim, Left::evicted);
      result.evicted.push_back(victim);
    }
    policy.inserted(trace[i], request);
    resident.insert(trace[i]);
  }
  return result;
}

Trace make(std::size_t n, const std::function<std::size_t(std::size_t)>& key) {
  Trace trace(n);
  for (std::size_t i = 0; i < n; ++i) trace[i] = Key{key(i)};
  return trace;
}

std::vector<Trace> traces() {
  std::mt19937_64 random(7);
  const auto zipf = [&](double most) {
    const double u = static_cast<double>(random() >> 11) * 0x1p-53;
    return static_cast<std::size_t>(std::pow(most, u));
  };
  return {
      make(1500, [&](std::size_t) { return random() % 100; }),
      make(1500, [&](std::size_t) { return zipf(200); }),
      make(1500, [](std::size_t i) { return i % 70; }),                              // loop
      make(1500, [](std::size_t i) { return i; }),                                   // scan
      make(1500, [](std::size_t i) { return i % 80 < 40 ? i % 40 : 39 - i % 40; }),  // and back
      make(1500, [&](std::size_t i) { return i % 3 == 0 ? zipf(30) : 100 + i % 500; }),
      make(1500, [&](std::size_t i) { return i / 250 * 40 + random() % 50; }),  // shifting
  };
}

// Every step looks at every chunk.
class NaiveLeast : public Policy {
 public:
  struct Chunk {
    Key key;
    std::uint64_t came, used, uses;
    bool dirty;
    std::uint64_t next_use;
    double base;  // L at the last use
  };
  using Before = std::function<bool(const Chunk&, const Chunk&)>;

  explicit NaiveLeast(Before before, bool bypass = false)
      : before_(std::move(before)), bypass_(bypass) {}

  bool admit(Key key, const Request& request) override {
    knows_ = knows_ || request.next_use != Request::never;
    if (!bypass_ || !knows_ || chunks_.size() < capacity_) return true;
    const Chunk newcomer{key, now_ + 1, now_ + 1, 1, request.write, request.next_use, level};
    return request.next_use != Request::never &&
           std::any_of(chunks_.begin(), chunks_.end(),
                       [&](const Chunk& c) { return before_(c, newcomer); });
  }
  void inserted(Key key, const Request& request) override {
    ++now_;
    auto c = std::find_if(chunks_.begin(), chunks_.end(),
                          [&](const Chunk& other) { return other.key == key; });
    if (c == chunks_.end()) {
      chunks_.push_back({key, now_, now_, 0, false, 0, 0});
      c = chunks_.end() - 1;
    }
    c->used = now_;
    ++c->uses;
    c->dirty = c->dirty || request.write;
    c->next_use = request.next_use;
    c->base = level;
  }
  void accessed(Key key, const Request& request) override { inserted(key, request); }
  void removed(Key key, Left) override {
    for (const Chunk& c : chunks_)
      if (c.key == key && worth) level = std::max(level, worth(c));
    std::erase_if(chunks_, [&](const Chunk& c) { return c.key == key; });
  }
  std::optional<Key> victim(const MayEvict& may) override {
    const Chunk* best = nullptr;
    for (const Chunk& c : chunks_)
      if (may(c.key) && (best == nullptr || before_(c, *best))) best = &c;
    return best == nullptr ? std::nullopt : std::optional(best->key);
  }
  void resize(std::uint64_t capacity) override { capacity_ = capacity; }

  std::uint64_t now() const { return now_; }
  double level = 0;  // L of greedy dual
  std::function<double(const Chunk&)> worth;

 private:
  Before before_;
  bool bypass_, knows_ = false;
  std::uint64_t now_ = 0, capacity_ = 0;
  std::vector<Chunk> chunks_;
};

using Chunk = NaiveLeast::Chunk;
using Maker = std::function<std::unique_ptr<Policy>()>;

std::unique_ptr<Policy> naive_opt(bool bypass) {
  return std::make_unique<NaiveLeast>(
      [](const Chunk& a, const Chunk& b) {
        return a.next_use != b.next_use ? a.next_use > b.next_use : a.used < b.used;
      },
      bypass);
}

std::unique_ptr<Policy> naive_greedy_dual(double write_back) {
  const auto worth = [=](const Chunk& c) {
    return c.base + static_cast<double>(c.uses) * (1 + (c.dirty ? write_back : 0));
  };
  auto naive = std::make_unique<NaiveLeast>([=](const Chunk& a, const Chunk& b) {
    return worth(a) != worth(b) ? worth(a) < worth(b) : a.used < b.used;
  });
  naive->worth = worth;
  return naive;
}

class NaiveHyperbolic : public NaiveLeast {
 public:
  NaiveHyperbolic()
      : NaiveLeast([this](const Chunk& a, const Chunk& b) {
          const double x = rate(a), y = rate(b);
          return x != y ? x < y : a.came < b.came;
        }) {}

 private:
  double rate(const Chunk& c) const {
    return static_cast<double>(c.uses) / static_cast<double>(now() - c.came + 1);
  }
};

std::unique_ptr<Policy> naive_lru() {
  return std::make_unique<NaiveLeast>(
      [](const Chunk& a, const Chunk& b) { return a.used < b.used; });
}

// The order of all chunks as one list of pairs; a block's time is that of its last insertion.
class NaiveUvm : public Policy {
 public:
  explicit NaiveUvm(std::uint64_t block) : block_(block) {}
  void inserted(Key key, const Request&) override {
    if (std::find(order_.begin(), order_.end(), key) != order_.end()) return;
    std::stable_partition(order_.begin(), order_.end(),
                          [&](Key other) { return block(other) != block(key); });
    order_.push_back(key);
  }
  void accessed(Key key, const Request& request) override { inserted(key, request); }
  void removed(Key key, Left) override { std::erase(order_, key); }
  std::optional<Key> victim(const MayEvict& may) override {
    for (const Key key : order_)
      if (may(key)) return key;
    return std::nullopt;
  }

 private:
  std::uint64_t block(Key key) const { return static_cast<std::uint64_t>(key) / block_; }
  std::uint64_t block_;
  std::vector<Key> order_;
};

// All generations in one list, the oldest first.
class NaiveMglru : public Policy {
 public:
  NaiveMglru(std::size_t generations, std::size_t every)
      : every_(every), generations_(generations) {}
  void inserted(Key key, const Request&) override {
    const auto size = chunks().size();
    if (++uses_ >= (every_ != 0 ? every_ : size + 1)) scan();
    for (auto& generation : generations_)
      for (auto& [k, used] : generation)
        if (k == key) {
          used = true;
          return;
        }
    generations_.back().push_back({key, false});
  }
  void accessed(Key key, const Request& request) override { inserted(key, request); }
  void removed(Key key, Left) override {
    for (auto& generation : generations_)
      std::erase_if(generation, [&](const auto& c) { return c.first == key; });
  }
  std::optional<Key> victim(const MayEvict& may) override {
    for (;;) {
      const auto all = chunks();
      const auto first =
          std::find_if(all.begin(), all.end(), [&](const auto& c) { return may(c.first); });
      if (first == all.end()) return std::nullopt;
      if (!first->second) return first->first;
      removed(first->first, Left::evicted);
      generations_.back().push_back({first->first, false});
    }
  }

 private:
  using Generation = std::vector<std::pair<Key, bool>>;
  Generation chunks() const {
    Generation all;
    for (const auto& g : generations_) all.insert(all.end(), g.begin(), g.end());
    return all;
  }
  void scan() {
    uses_ = 0;
    Generation youngest;
    for (auto& generation : generations_)
      for (const auto& c : generation)
        if (c.second) youngest.push_back({c.first, false});
    for (auto& generation : generations_)
      std::erase_if(generation, [](const auto& c) { return c.second; });
    generations_[1].insert(generations_[1].begin(), generations_[0].begin(), generations_[0].end());
    generations_.erase(generations_.begin());
    generations_.push_back(youngest);
  }
  std::size_t every_, uses_ = 0;
  std::vector<Generation> generations_;  // always as many as there may be
};

// Clean first, around LRU.
class NaiveClean : public Policy {
 public:
  explicit NaiveClean(std::size_t among) : among_(among) {}
  void inserted(Key key, const Request& request) override {
    bool dirty = request.write;
    for (const auto& [k, d] : order_) dirty = dirty || (k == key && d);
    removed(key, Left::evicted);
    order_.push_back({key, dirty});
  }
  void accessed(Key key, const Request& request) override { inserted(key, request); }
  void removed(Key key, Left) override {
    std::erase_if(order_, [&](const auto& c) { return c.first == key; });
  }
  std::optional<Key> victim(const MayEvict& may) override {
    std::vector<std::pair<Key, bool>> next;
    for (const auto& c : order_)
      if (may(c.first) && next.size() < among_) next.push_back(c);
    for (const auto& [key, dirty] : next)
      if (!dirty) return key;
    return next.empty() ? std::nullopt : std::optional(next.front().first);
  }

 private:
  std::size_t among_;
  std::vector<std::pair<Key, bool>> order_;
};

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
