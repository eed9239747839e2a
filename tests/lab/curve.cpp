// A curve has at every size what a replay at that size counts.
#include "apps/policy/curve.hpp"

#include <random>

#include "apps/policy/bit_tree.hpp"
#include "apps/policy/replay.hpp"
#include "apps/policy/synthesise.hpp"
#include "tests/lab/lab.hpp"

namespace holdall::lab {
namespace {

Trace made(const Synthesis& what) {
  Trace trace;
  Numbering numbering;
  synthesise(what, [&](const TraceRecord& record) {
    Id id;
    const std::uint64_t key = record.chunk;
    numbering.number({&key, 1}, &id);
    trace.ids.push_back(id);
  });
  trace.keys = numbering.keys();
  find_next_uses(trace);
  return trace;
}

class Patterns : public testing::TestWithParam<std::string> {};

TEST_P(Patterns, CurvesEqualReplaysAtEverySize) {
  // More requests than the window of times: it is packed several times.
  const Trace trace = made({.pattern = GetParam(), .requests = 20'000, .chunks = 97, .window = 11});
  const Curve lru = lru_curve(trace.requests(), trace.distinct());
  const Curve mru = mru_curve(trace.requests(), trace.distinct());
  const Curve opt = opt_curve(trace.requests(), trace.distinct());
  const std::uint64_t step = std::max<std::uint64_t>(1, trace.distinct() / 97);
  for (std::uint64_t size = 0; size <= trace.distinct() + step; size += step) {
    ASSERT_EQ(lru.misses(size), replay(trace.requests(), "lru", {.capacity = size}).misses) << size;
    ASSERT_EQ(mru.misses(size), replay(trace.requests(), "mru", {.capacity = size}).misses) << size;
    ASSERT_EQ(opt.misses(size), opt_misses(trace.requests(), size, false)) << size;
  }
}

TEST_P(Patterns, NoPolicyIsBelowItsBound) {
  const Trace trace = made({.pattern = GetParam(), .requests = 20'000, .chunks = 97, .window = 11});
  for (const std::uint64_t size : {1, 2, 5, 20, 60, 96, 97, 200}) {
    const std::uint64_t opt = opt_misses(trace.requests(), size, false);
    EXPECT_LE(opt_misses(trace.requests(), size, true), opt) << size;
    for (const char* const policy : {"lru", "fifo", "mru", "lfu", "random", "clock"})
      EXPECT_LE(opt, replay(trace.requests(), policy, {.capacity = size}).misses)
          << policy << " " << size;
  }
  EXPECT_EQ(opt_misses(trace.requests(), trace.distinct(), false), trace.distinct());
  EXPECT_EQ(opt_misses(trace.requests(), 0, false), trace.ids.size());
}

TEST_P(Patterns, AreTheSameForTheSameSeed) {
  const Synthesis what{
      .pattern = GetParam(), .requests = 1000, .chunks = 50, .writes = 0.3, .seed = 9};
  const auto all = [](const Synthesis& s) {
    std::vector<std::uint64_t> chunks;
    synthesise(s, [&](const TraceRecord& r) { chunks.push_back(r.chunk * 8 + r.kind); });
    return chunks;
  };
  EXPECT_EQ(all(what), all(what));
  Synthesis other = what;
  other.seed = 10;
  EXPECT_NE(all(what), all(other));
}

INSTANTIATE_TEST_SUITE_P(Synthesised, Patterns,
                         testing::Values("zipf", "scan", "loop", "forward-backward", "graph-sweep",
                                         "frontier", "shift"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

// Belady's own definition, chunk by chunk.
std::uint64_t naive_opt(const Trace& trace, std::size_t capacity, bool bypass) {
  std::vector<std::pair<Id, RequestNumber>> resident;
  std::uint64_t misses = 0;
  for (std::size_t i = 0; i < trace.ids.size(); ++i) {
    const RequestNumber next = trace.next_uses[i];
    const auto at = std::ranges::find(resident, trace.ids[i], &std::pair<Id, RequestNumber>::first);
    if (at != resident.end()) {
      at->second = next;
      continue;
    }
    ++misses;
    if (resident.size() == capacity) {
      const auto farthest =
          std::ranges::max_element(resident, {}, &std::pair<Id, RequestNumber>::second);
      if (bypass && next >= farthest->second) continue;
      resident.erase(farthest);
    }
    resident.push_back({trace.ids[i], next});
  }
  return misses;
}

TEST(Opt, IsWhatItsDefinitionGives) {
  for (const char* const pattern : {"zipf", "loop", "frontier"})
    for (const std::size_t capacity : {1u, 2u, 7u, 30u}) {
      const Trace trace = made({.pattern = pattern, .requests = 4000, .chunks = 60, .window = 9});
      EXPECT_EQ(opt_misses(trace.requests(), capacity, false), naive_opt(trace, capacity, false))
          << pattern << capacity;
      EXPECT_EQ(opt_misses(trace.requests(), capacity, true), naive_opt(trace, capacity, true))
          << pattern << capacity;
    }
}

TEST(Opt, HasItsCurveFromOnePassOverManyChunks) {
  const Trace trace = made({.pattern = "zipf", .requests = 60'000, .chunks = 9000});
  const Curve opt = opt_curve(trace.requests(), trace.distinct());
  for (std::uint64_t size = 1; size < trace.distinct(); size += 173)
    ASSERT_EQ(opt.misses(size), opt_misses(trace.requests(), size, false)) << size;
}

TEST(Opt, EqualsTheRecordedCounts) {
  const auto folder = recorded();
  if (!folder) GTEST_SKIP() << "no traces: set HOLDALL_DATA to the folder that holds traces/";
  std::ifstream table(*folder / "opt_misses.csv");
  std::string line;
  std::getline(table, line);
  std::string loaded;
  Trace trace;
  int compared = 0;
  while (std::getline(table, line)) {
    std::vector<std::string> f(1);
    for (const char c : line) c == ',' ? f.emplace_back() : f.back() += c;
    ASSERT_EQ(f.size(), 6u);
    if (f[0] != loaded) {
      trace = read_trace((*folder / (f[0] + ".oracleGeneral.bin.zst")).string());
      find_next_uses(trace);
      loaded = f[0];
    }
    EXPECT_EQ(opt_misses(trace.requests(), std::stoull(f[3]), f[1] == "opt-bypass"),
              std::stoull(f[5]))
        << line;
    ++compared;
  }
  EXPECT_GT(compared, 200);
}

TEST(Shards, IsWithinFourOfItsErrors) {
  const Trace trace = made({.pattern = "zipf", .requests = 400'000, .chunks = 50'000});
  const Curve exact = lru_curve(trace.requests(), trace.distinct());
  const std::vector<std::uint64_t> sizes{500, 2000, 8000, 30'000};
  for (const double rate : {0.1, 0.3}) {
    for (const SampledPoint& p : sampled_lru_curve(trace, rate, sizes)) {
      const double truth =
          static_cast<double>(exact.misses(p.capacity)) / static_cast<double>(exact.requests);
      EXPECT_GT(p.error, 0);
      EXPECT_LT(p.error, 0.06);
      EXPECT_NEAR(p.miss_ratio, truth, 4 * p.error + 0.002) << rate << " " << p.capacity;
    }
  }
}

TEST(Shards, OfEverythingIsExact) {
  const Trace trace = made({.pattern = "zipf", .requests = 20'000, .chunks = 1000});
  const Curve exact = lru_curve(trace.requests(), trace.distinct());
  for (const SampledPoint& p : sampled_lru_curve(trace, 1, {10, 100, 900}))
    EXPECT_DOUBLE_EQ(p.miss_ratio, static_cast<double>(exact.misses(p.capacity)) /
                                       static_cast<double>(exact.requests));
}

TEST(BitTree, CountsAndFindsTheLargest) {
  std::mt19937 random(5);
  CountingSet counting(5000);
  OrderedSet ordered(5000);
  std::vector<bool> model(5000);
  for (int step = 0; step < 5000; ++step) {
    const std::size_t n = random() % 5000;
    model[n] ? counting.erase(n) : counting.insert(n);
    model[n] ? ordered.erase(n) : ordered.insert(n);
    model[n] = !model[n];
    const std::size_t below = random() % 5000;
    ASSERT_EQ(counting.below(below),
              static_cast<std::size_t>(std::count(
                  model.begin(), model.begin() + static_cast<std::ptrdiff_t>(below), true)));
    ASSERT_EQ(ordered.contains(n), model[n]);
    const auto last = std::find(model.rbegin(), model.rend(), true);
    if (last != model.rend()) {
      ASSERT_EQ(ordered.largest(), static_cast<std::size_t>(model.rend() - last) - 1);
    }
  }
}

}  // namespace
}  // namespace holdall::lab
