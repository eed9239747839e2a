// Miss counts on recorded traces equal those of libCacheSim, of Caffeine's simulator and of
// webcachesim, to the last one.
#include <gtest/gtest.h>

#include <map>

#include "policies/registry.hpp"
#include "tests/policies/replay.hpp"
#include "tests/policies/trace_file.hpp"

namespace holdall {
namespace {

struct Same {
  std::string spec, simulator, algorithm, parameters;  // ours; theirs
};

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
    const std::vector<Key>& keys = trace(*folder, c.trace);
    ASSERT_EQ(keys.size(), c.requests) << c.trace;
    EXPECT_EQ(replay(*make_policy(same.spec), keys, c.capacity).misses, c.misses)
        << c.trace << ", capacity " << c.capacity;
    ++compared;
  }
  EXPECT_GT(compared, 0u);
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
      {"2q", "libcachesim", "2q", ""},
      {"2q", "caffeine", "two-queue.TwoQueue", "defaults"},
      {"arc", "libcachesim", "arc", ""},
      {"arc:variant=integer", "caffeine", "adaptive.Arc", "defaults"},
      {"car", "caffeine", "adaptive.Car", "defaults"},
      {"slru", "libcachesim", "slru", ""},
      {"slru:segments=2,probation=0.2", "libcachesim", "slru", "seg-size=1:4"},
      {"slru:variant=caffeine", "caffeine", "linked.SegmentedLru", "defaults"},
      {"s3fifo", "libcachesim", "s3fifo", ""},
      {"s3fifo:promote=1", "libcachesim", "s3fifo", "move-to-main-threshold=1"},
      {"s3fifo:variant=caffeine", "caffeine", "two-queue.S3Fifo", "defaults"},
      {"lirs", "libcachesim", "lirs", ""},
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
