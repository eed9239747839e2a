// What a prefetcher brings into a replay.
#include "apps/policy/prefetching.hpp"

#include <random>

#include "policies/registry.hpp"
#include "tests/lab/lab.hpp"

namespace holdall::lab {
namespace {

Trace asking_for(const std::vector<std::uint64_t>& keys) {
  Numbering numbering;
  Trace trace;
  trace.ids.resize(keys.size());
  numbering.number(keys, trace.ids.data());
  trace.keys = numbering.keys();
  return trace;
}

TEST(Prefetching, TheNextChunksOfAScanAreThereWhenTheyAreAskedFor) {
  const Trace scan = asking_for({10, 11, 12, 13, 14, 15, 16, 17});
  const Counts counts = replay_prefetching(scan, "lru", "next:n=3", {.capacity = 4});
  EXPECT_EQ(counts.requests, 8u);
  EXPECT_EQ(counts.misses, 2u);
  EXPECT_EQ(counts.prefetched, 6u);
  EXPECT_EQ(counts.chunks_in, 8u);
}

TEST(Prefetching, NeighboursThatNoRequestAsksForTakeRoom) {
  const Trace trace = asking_for({10, 30, 10, 30});
  EXPECT_EQ(replay_prefetching(trace, "lru", "none", {.capacity = 3}).misses, 2u);
  const Counts crowded = replay_prefetching(trace, "lru", "next:n=2", {.capacity = 3});
  EXPECT_EQ(crowded.misses, 4u);      // 30 alone has no neighbour within the trace
  EXPECT_EQ(crowded.prefetched, 4u);  // 11 and 12, twice
}

TEST(Prefetching, ARangeEndsWhereItsChunksEnd) {
  constexpr std::uint64_t second = std::uint64_t{1} << 40;
  const Trace trace = asking_for({0, 1, second, second + 1});
  EXPECT_EQ(replay_prefetching(trace, "lru", "next:n=9", {.capacity = 8}).chunks_in, 4u);
}

TEST(Prefetching, AStrideIsFollowedOnceItIsSteady) {
  const Trace trace = asking_for({0, 5, 10, 15, 20, 25, 30});
  EXPECT_EQ(replay_prefetching(trace, "lru", "stride:ahead=1", {.capacity = 4}).misses, 3u);
}

TEST(Prefetching, TheTreeForgetsWhatWasEvicted) {
  std::vector<std::uint64_t> keys;
  for (std::uint64_t round = 0; round < 3; ++round)
    for (std::uint64_t key = 0; key < 64; ++key) keys.push_back(key);
  const Counts counts =
      replay_prefetching(asking_for(keys), "fifo", "tree:block=8", {.capacity = 16});
  EXPECT_EQ(counts.chunks_in, 192u);  // each round brings every block in again
  EXPECT_LT(counts.misses, 192u);
}

// Every chunk is its own range's only one, so that nothing has a neighbour.
TEST(Prefetching, WithoutNeighboursItIsAPlainReplay) {
  std::mt19937_64 random(3);
  std::vector<std::uint64_t> keys;
  for (int i = 0; i < 2000; ++i) keys.push_back((random() % 50) << 40);
  const Trace trace = asking_for(keys);
  for (const char* prefetch : {"none", "next", "stride", "tree"})
    EXPECT_EQ(replay_prefetching(trace, "s3fifo", prefetch, {.capacity = 10}),
              replay(trace.requests(), "s3fifo", {.capacity = 10}))
        << prefetch;
}

}  // namespace
}  // namespace holdall::lab
