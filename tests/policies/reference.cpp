// Miss counts on recorded traces equal those of libCacheSim, to the last one.
#include <gtest/gtest.h>

#include <map>

#include "policies/registry.hpp"
#include "tests/policies/replay.hpp"
#include "tests/policies/trace_file.hpp"

namespace holdall {
namespace {

struct Same {
  std::string spec, algorithm, parameters;  // ours; theirs
};

class Reference : public testing::TestWithParam<Same> {};

TEST_P(Reference, MissesAreTheSameToTheLast) {
  const auto folder = trace_folder();
  if (!folder) GTEST_SKIP() << "no traces: set HOLDALL_DATA to the folder that holds traces/";
  std::map<std::string, std::vector<Key>> traces;
  std::size_t compared = 0;
  for (const ReferenceCount& c : read_reference(*folder / "libcachesim_misses.csv")) {
    if (c.algorithm != GetParam().algorithm || c.parameters != GetParam().parameters) continue;
    std::vector<Key>& trace = traces[c.trace];
    if (trace.empty()) trace = read_trace(*folder / (c.trace + ".oracleGeneral.bin.zst"));
    ASSERT_EQ(trace.size(), c.requests) << c.trace;
    const auto policy = make_policy(GetParam().spec);
    EXPECT_EQ(replay(*policy, trace, c.capacity).misses, c.misses)
        << c.trace << ", capacity " << c.capacity;
    ++compared;
  }
  EXPECT_GT(compared, 0u);
}

INSTANTIATE_TEST_SUITE_P(Policies, Reference,
                         testing::Values(Same{"lru", "lru", ""}, Same{"fifo", "fifo", ""},
                                         Same{"mru", "mru", ""}, Same{"lfu", "lfu", ""},
                                         Same{"clock", "clock", ""},
                                         Same{"clock:bits=2", "clock", "n-bit-counter=2"}),
                         [](const testing::TestParamInfo<Same>& info) {
                           return info.param.algorithm +
                                  (info.param.parameters.empty() ? "" : "_two_bits");
                         });

}  // namespace
}  // namespace holdall
