// What a replay counts.
#include "apps/policy/replay.hpp"

#include <map>
#include <random>

#include "apps/policy/cost.hpp"
#include "apps/policy/error.hpp"
#include "apps/policy/size.hpp"
#include "policies/registry.hpp"
#include "tests/lab/lab.hpp"

namespace holdall::lab {
namespace {

struct Columns {
  std::vector<Id> ids;
  std::vector<std::uint8_t> kinds = {};
  std::vector<std::uint64_t> bytes = {};
  Counts with(const std::string& policy, const ReplayOptions& options) const {
    return replay({ids, kinds, bytes, {}}, policy, options);
  }
};

TEST(Replay, CountsHitsMissesAndEvictions) {
  EXPECT_EQ(
      (Columns{{0, 1, 0, 2, 1, 0}}.with("lru", {.capacity = 2, .chunk = 10})),
      (Counts{
          .requests = 6, .hits = 1, .misses = 5, .bytes_in = 50, .chunks_in = 5, .evictions = 3}));
}

TEST(Replay, WritesBackWhatIsDirtyAndBringsNothingInForAnOverwrite) {
  const Columns c{{0, 1, 2, 3}, {trace_write, trace_overwrite, trace_read, trace_read}};
  EXPECT_EQ(c.with("fifo", {.capacity = 1, .chunk = 10}), (Counts{.requests = 4,
                                                                  .misses = 4,
                                                                  .bytes_in = 30,
                                                                  .bytes_out = 20,
                                                                  .chunks_in = 4,
                                                                  .evictions = 3,
                                                                  .write_backs = 2}));
}

TEST(Replay, ARemovedChunkIsNotWrittenBackAndItsRoomIsFree) {
  const Columns c{{0, 0, 1, 0}, {trace_write, trace_remove, trace_read, trace_read}};
  EXPECT_EQ(c.with("lru", {.capacity = 2}),
            (Counts{.requests = 3, .misses = 3, .removed = 1, .bytes_in = 3, .chunks_in = 3}));
}

TEST(Replay, APrefetchIsNoRequest) {
  const Columns c{{0, 0, 0}, {trace_prefetch, trace_read, trace_prefetch}};
  EXPECT_EQ(c.with("lru", {.capacity = 2}),
            (Counts{.requests = 1, .hits = 1, .prefetched = 1, .bytes_in = 1, .chunks_in = 1}));
}

TEST(Replay, HonoursSizes) {
  const Columns c{{0, 1, 2, 0, 3}, {}, {6, 4, 5, 6, 11}};
  EXPECT_EQ(c.with("lru", {.capacity = 10, .sizes = true}), (Counts{.requests = 5,
                                                                    .misses = 5,
                                                                    .refused = 1,
                                                                    .bytes_in = 32,
                                                                    .chunks_in = 4,
                                                                    .evictions = 3}))
      << "3 is bigger than the memory; 0 leaves for 2; 1 and 2 for 0";
  EXPECT_EQ(c.with("lru", {.capacity = 4}).hits, 1u) << "ignored";
}

TEST(Replay, AChunkThatGrowsPushesOthersOut) {
  const Columns c{{0, 1, 0, 1}, {}, {4, 4, 8, 4}};
  EXPECT_EQ(c.with("lru", {.capacity = 10, .sizes = true}).evictions, 2u);
}

TEST(Replay, AMemoryOfNothingMissesEverythingAndOneOfAllOnlyOnce) {
  const Columns c{{0, 1, 0, 1, 0}, {}, {3, 4, 3, 4, 3}};
  for (const auto& policy : list_policies()) {
    EXPECT_EQ(c.with(policy.name, {.capacity = 0}).misses, 5u) << policy.name;
    EXPECT_EQ(c.with(policy.name, {.capacity = 0, .sizes = true}).misses, 5u) << policy.name;
    EXPECT_EQ(c.with(policy.name, {.capacity = 1000}).misses, 2u) << policy.name;
  }
}

TEST(Replay, InPiecesCountsTheSame) {
  std::mt19937 random(3);
  Columns c;
  for (int i = 0; i < 5000; ++i) c.ids.push_back(std::min(random() % 300, random() % 300));
  Replay pieces("lfu", {.capacity = 50});
  for (std::size_t at = 0; at < c.ids.size(); at += 100)
    pieces.feed({std::span(c.ids).subspan(at, 100), {}, {}, {}});
  EXPECT_EQ(pieces.counts(), c.with("lfu", {.capacity = 50}));
}

class Liar final : public Policy {
 public:
  void inserted(Key, const Request&) override {}
  void accessed(Key, const Request&) override {}
  void removed(Key, Left) override {}
  std::optional<Key> victim(const MayEvict&) override { return Key{77}; }
};

TEST(Replay, AVictimThatIsNotResidentIsReported) {
  register_policy({"liar", "a wrong one"}, [](Parameters&) { return std::make_unique<Liar>(); });
  EXPECT_THROW((Columns{{0, 1}}.with("liar", {.capacity = 1})), LabError);
  register_policy({"liar", "now right"}, [](Parameters&) { return make_policy("lru"); });
}

TEST(Numbering, GivesEachKeyOneNumberInOrderOfAppearance) {
  std::mt19937_64 random(4);
  Numbering numbering;
  std::map<std::uint64_t, Id> model;
  std::vector<std::uint64_t> keys(200'000);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::uint64_t n = random() % 60'000;
    keys[i] = i % 3 == 0 ? n : i % 3 == 1 ? n * 977 : n << 40;
  }
  std::vector<Id> ids(keys.size());
  for (std::size_t at = 0; at < keys.size(); at += 1000)
    numbering.number(std::span(keys).subspan(at, 1000), ids.data() + at);
  for (std::size_t i = 0; i < keys.size(); ++i)
    ASSERT_EQ(ids[i], model.emplace(keys[i], static_cast<Id>(model.size())).first->second) << i;
  EXPECT_EQ(numbering.distinct(), model.size());
}

TEST(NextUses, AreThoseOfTheSameContents) {
  Trace trace;
  trace.ids = {0, 1, 0, 0, 1, 0};
  trace.kinds = {trace_read, trace_read, trace_prefetch, trace_remove, trace_write, trace_read};
  trace.keys = {10, 11};
  find_next_uses(trace);
  EXPECT_EQ(trace.next_uses,
            (std::vector<RequestNumber>{never_used, 4, never_used, 5, never_used, never_used}));
}

TEST(Sizes, AreBytesSharesOrChunks) {
  EXPECT_EQ(parse_size("1000").capacity(false, 10, 0), 1000u);
  EXPECT_EQ(parse_size("1GiB").capacity(false, 8 << 20, 0), 128u);
  EXPECT_EQ(parse_size("1GiB").capacity(true, 8 << 20, 0), 1u << 30);
  EXPECT_EQ(parse_size("10%").capacity(false, 10, 55), 5u);
  EXPECT_EQ(parse_size("0.1%").capacity(false, 10, 55), 1u) << "at least one";
  EXPECT_EQ(parse_size("0").capacity(false, 10, 55), 0u);
  for (const char* const bad : {"", "-1", "x", "%", "1%%", "-5%", "nan%"})
    EXPECT_THROW((void)parse_size(bad), std::invalid_argument) << bad;
}

TEST(Policies, AreSplitAtCommasThatNoParameterFollows) {
  EXPECT_EQ(split_policies("lru,lfu:halflife=8,seed=3,clock:bits=2,fifo"),
            (std::vector<std::string>{"lru", "lfu:halflife=8,seed=3", "clock:bits=2", "fifo"}));
}

TEST(Costs, AreThoseOfTheLinkOrOfTheDriver) {
  const Cost cost{.in = 50e9, .out = 50e9, .both = 80e9, .chunk_seconds = 1e-3, .overlap = 1};
  EXPECT_DOUBLE_EQ(cost.seconds({.bytes_in = 100'000'000'000, .chunks_in = 1}), 2);
  EXPECT_DOUBLE_EQ(cost.seconds({.bytes_in = 80'000'000'000, .bytes_out = 80'000'000'000}), 2);
  EXPECT_DOUBLE_EQ(cost.seconds({.bytes_in = 50'000'000'000, .chunks_in = 3000}), 3);
  Cost apart = cost;
  apart.overlap = 0;
  EXPECT_DOUBLE_EQ(apart.seconds({.bytes_in = 50'000'000'000, .chunks_in = 3000}), 4);
}

TEST(Costs, AreReadFromTheDoctor) {
  const TemporaryFile file(
      R"({"devices":[{"name":"a"},{"link_in":5e10,"link_out":4e10,"link_both":7e10}],"overlap":0.5})");
  const Cost cost = read_cost(file.path());
  EXPECT_EQ(cost.in, 5e10);
  EXPECT_EQ(cost.out, 4e10);
  EXPECT_EQ(cost.both, 7e10);
  EXPECT_EQ(cost.overlap, 0.5);
  EXPECT_EQ(cost.chunk_seconds, Cost{}.chunk_seconds);
  const TemporaryFile sizes(R"({"devices":[{"link_in":5e10,"chunk_costs":[
      {"bytes":2097152,"chunk_seconds":1e-6},{"bytes":67108864,"chunk_seconds":2e-6}]}]})");
  EXPECT_EQ(read_cost(sizes.path(), 4 << 20).chunk_seconds, 1e-6);
  EXPECT_EQ(read_cost(sizes.path(), 32 << 20).chunk_seconds, 2e-6);
  for (const char* const bad :
       {"", "[]", "{}", R"({"link_in":0})", R"({"overlap":2})", R"({"link_in":"x"})"})
    EXPECT_THROW((void)read_cost(TemporaryFile(bad).path()), LabError) << bad;
}

}  // namespace
}  // namespace holdall::lab
