// Miss counts on recorded traces equal those of libCacheSim, of Caffeine's simulator and of
// webcachesim, to the last one, on every row but those where the reference
// - takes no chunk at all, because a share of so small a capacity rounds to nothing (`least`), or
// - evicted chunks that nobody asked it to evict (tests/policies/eager.hpp): there its own rule
//   gives its count, and the policy is compared where it did not come to that.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <ostream>

#include "policies/registry.hpp"
#include "tests/policies/eager.hpp"
#include "tests/policies/replay.hpp"
#include "tests/policies/trace_file.hpp"

namespace holdall {
namespace {

struct Same {
  std::string spec, simulator, algorithm, parameters;  // ours; theirs
  std::size_t least = 1;                               // the capacity from which it takes chunks
  std::function<Eager(std::span<const Key>, std::size_t)> eager = {};  // its whole rule, if eager
};
void PrintTo(const Same& same, std::ostream* out) { *out << same.spec; }

// The traces, each read once.
const std::vector<Key>& trace(const std::filesystem::path& folder, const std::string& name) {
  static std::map<std::string, std::vector<Key>> traces;
  std::vector<Key>& keys = traces[name];
  if (keys.empty()) keys = read_trace(folder / (name + ".oracleGeneral.bin.zst"));
  return keys;
}

class Reference : public testing::TestWithParam<Same> {};

TEST_P(Reference, MissesAreTheSameToTheLast) {
  const auto folder = trace_folder();
  if (!folder) GTEST_SKIP() << "no traces: set HOLDALL_DATA to the folder that holds traces/";
  const Same& same = GetParam();
  std::size_t compared = 0;
  for (const ReferenceCount& c : read_reference(*folder / (same.simulator + "_misses.csv"))) {
    if (c.algorithm != same.algorithm || c.parameters != same.parameters) continue;
    if (c.requests > longest_trace) continue;
    const std::vector<Key>& keys = trace(*folder, c.trace);
    ASSERT_EQ(keys.size(), c.requests) << c.trace;
    const std::string row = c.trace + ", capacity " + std::to_string(c.capacity);
    if (c.capacity < same.least) {
      EXPECT_EQ(c.misses, c.requests) << row;
      continue;
    }
    if (same.eager) {
      const Eager rule = same.eager(keys, c.capacity);
      EXPECT_EQ(rule.misses, c.misses) << row;
      if (rule.unasked > 0) continue;
    }
    EXPECT_EQ(replay(*make_policy(same.spec), keys, c.capacity).misses, c.misses) << row;
    ++compared;
  }
  RecordProperty("compared", static_cast<int>(compared));
  EXPECT_GT(compared, 0u);
}

Eager four_segments(std::span<const Key> trace, std::size_t capacity) {
  return eager_slru(trace, capacity, std::vector<std::size_t>(4, capacity / 4));
}
Eager one_to_four(std::span<const Key> trace, std::size_t capacity) {
  const auto part = [&](double share) {
    return static_cast<std::size_t>(share / 5 * static_cast<double>(capacity));
  };
  return eager_slru(trace, capacity, {part(1), part(4)});
}

std::vector<Same> pairs() {
  return {
      {"lru", "libcachesim", "lru", ""},
      {"fifo", "libcachesim", "fifo", ""},
      {"mru", "libcachesim", "mru", ""},
      {"lfu", "libcachesim", "lfu", ""},
      {"clock", "libcachesim", "clock", ""},
      {"clock:bits=2", "libcachesim", "clock", "n-bit-counter=2"},
      {"clock:variant=caffeine", "caffeine", "linked.Clock", "defaults"},
      {"sieve", "libcachesim", "sieve", ""},
      {"sieve", "caffeine", "linked.Sieve", "defaults"},
      {"2q", "libcachesim", "2q", "", 4},
      {"2q", "caffeine", "two-queue.TwoQueue", "defaults"},
      {"arc", "libcachesim", "arc", ""},
      {"arc:variant=integer", "caffeine", "adaptive.Arc", "defaults"},
      {"car", "caffeine", "adaptive.Car", "defaults"},
      {"slru", "libcachesim", "slru", "", 4, four_segments},
      {"slru:segments=2,probation=0.2", "libcachesim", "slru", "seg-size=1:4", 5, one_to_four},
      {"slru:variant=caffeine", "caffeine", "linked.SegmentedLru", "defaults"},
      {"s3fifo", "libcachesim", "s3fifo", "", 20},
      {"s3fifo:promote=1", "libcachesim", "s3fifo", "move-to-main-threshold=1", 20},
      {"s3fifo:variant=caffeine", "caffeine", "two-queue.S3Fifo", "defaults", 1, eager_s3fifo},
      {"lirs", "libcachesim", "lirs", "", 1, eager_lirs},
      {"lirs:variant=caffeine", "caffeine", "irr.Lirs", "defaults"},
      {"clockpro", "caffeine", "irr.ClockPro", "defaults"},
      {"lruk:retained=0", "webcachesim", "LRUK", "k=2"},
  };
}

std::string name(const testing::TestParamInfo<Same>& info) {
  std::string text = info.param.spec + "_" + info.param.simulator;
  std::replace_if(
      text.begin(), text.end(), [](char c) { return !std::isalnum(c); }, '_');
  return text;
}

INSTANTIATE_TEST_SUITE_P(Policies, Reference, testing::ValuesIn(pairs()), name);

}  // namespace
}  // namespace holdall
