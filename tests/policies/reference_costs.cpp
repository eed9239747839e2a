// Miss counts on recorded traces equal those of the exact optimum, of webcachesim and of Caffeine's
// simulator, to the last one.
#include <gtest/gtest.h>
#include <zstd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <unordered_map>

#include "policies/registry.hpp"
#include "tests/policies/trace_file.hpp"

namespace holdall {
namespace {

struct Trace {
  std::vector<Key> ids;               // as recorded: a policy that hashes keys sees them
  std::vector<std::uint32_t> number;  // of the id, in order of first appearance
  std::vector<std::uint64_t> next_use;
};

// The ids of an oracleGeneral trace packed with zstd.
std::vector<Key> read_ids(const std::filesystem::path& file) {
  constexpr std::size_t record = 24, id_at = 4;
  std::ifstream in(file, std::ios::binary);
  const std::string packed{std::istreambuf_iterator<char>(in), {}};
  std::string bytes(64 << 20, '\0');
  const std::size_t size =
      ZSTD_decompress(bytes.data(), bytes.size(), packed.data(), packed.size());
  if (ZSTD_isError(size)) throw std::runtime_error(file.string() + ": " + ZSTD_getErrorName(size));
  std::vector<Key> ids(size / record);
  for (std::size_t i = 0; i < ids.size(); ++i)
    std::memcpy(&ids[i], bytes.data() + i * record + id_at, sizeof ids[i]);
  return ids;
}

const Trace& trace_of(const std::filesystem::path& folder, const std::string& name) {
  static std::map<std::string, Trace> all;
  Trace& trace = all[name];
  if (!trace.ids.empty()) return trace;
  trace.ids = read_ids(folder / (name + ".oracleGeneral.bin.zst"));
  std::unordered_map<Key, std::uint32_t> numbers;
  for (const Key id : trace.ids)
    trace.number.push_back(
        numbers.emplace(id, static_cast<std::uint32_t>(numbers.size())).first->second);
  std::vector<std::uint64_t> next(numbers.size(), Request::never);
  trace.next_use.resize(trace.ids.size());
  for (std::size_t i = trace.ids.size(); i-- > 0;) {
    trace.next_use[i] = next[trace.number[i]];
    next[trace.number[i]] = i;
  }
  return trace;
}

// A memory of `capacity` chunks that asks `admit`, evicts, inserts; the same for the engine.
std::size_t misses(Policy& policy, const Trace& trace, std::size_t capacity) {
  std::vector<bool> here(trace.ids.size());
  std::unordered_map<Key, std::uint32_t> numbers;
  std::size_t count = 0, size = 0;
  policy.resize(capacity);
  for (std::size_t i = 0; i < trace.ids.size(); ++i) {
    const Key key = trace.ids[i];
    const Request request{.next_use = trace.next_use[i]};
    if (here[trace.number[i]]) {
      policy.accessed(key, request);
      continue;
    }
    ++count;
    numbers.emplace(key, trace.number[i]);
    if (!policy.admit(key, request)) continue;
    if (size == capacity) {
      const Key victim = policy.victim([](Key) { return true; }).value();
      policy.removed(victim, Left::evicted);
      here[numbers.at(victim)] = false;
      --size;
    }
    policy.inserted(key, request);
    here[trace.number[i]] = true;
    ++size;
  }
  return count;
}

struct Same {
  std::string name, spec, table, algorithm, parameters;  // ours; theirs
};

class ReferenceCosts : public testing::TestWithParam<Same> {};

TEST_P(ReferenceCosts, MissesAreTheSameToTheLast) {
  const auto folder = trace_folder();
  if (!folder) GTEST_SKIP() << "no traces: set HOLDALL_DATA to the folder that holds traces/";
  std::size_t compared = 0;
  for (const ReferenceCount& c : read_reference(*folder / GetParam().table)) {
    if (c.algorithm != GetParam().algorithm || c.parameters != GetParam().parameters) continue;
    if (c.requests > longest_trace) continue;
    const Trace& trace = trace_of(*folder, c.trace);
    ASSERT_EQ(trace.ids.size(), c.requests) << c.trace;
    EXPECT_EQ(misses(*make_policy(GetParam().spec), trace, c.capacity), c.misses)
        << c.trace << ", capacity " << c.capacity;
    ++compared;
  }
  EXPECT_GT(compared, 0u);
}

constexpr const char* caffeine = "caffeine_misses.csv";
constexpr const char* webcachesim = "webcachesim_misses.csv";

INSTANTIATE_TEST_SUITE_P(
    Policies, ReferenceCosts,
    testing::Values(Same{"opt", "opt", "opt_misses.csv", "opt-demand", "own"},
                    Same{"opt_bypass", "opt:bypass=true", "opt_misses.csv", "opt-bypass", "own"},
                    Same{"gdsf", "gdsf", "libcachesim_misses.csv", "gdsf", ""},
                    Same{"lfuda", "lfuda:variant=webcachesim", webcachesim, "LFUDA", ""},
                    Same{"gdsf_webcachesim", "gdsf:variant=webcachesim", webcachesim, "GDSF", ""},
                    Same{"gdsf_caffeine", "gdsf:variant=caffeine", caffeine, "greedy-dual.Gdsf",
                         "defaults"},
                    Same{"wtinylfu", "wtinylfu:seed=1033096058", caffeine,
                         "sketch.WindowTinyLfu (1%)", "defaults"},
                    Same{"wtinylfu_climb", "wtinylfu:climb=true,seed=1033096058", caffeine,
                         "sketch.HillClimberWindowTinyLfu (simple 1%)", "defaults"}),
    [](const testing::TestParamInfo<Same>& info) { return info.param.name; });

}  // namespace
}  // namespace holdall
