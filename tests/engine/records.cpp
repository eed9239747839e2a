// What the engine says of itself: stats, traces, timelines.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/trace.hpp"
#include "tests/engine/world.hpp"

namespace holdall {
namespace {

// Hits, faults, evictions, write-backs, prefetches and a read in place, on two ranges. What it
// counted.
Stats busy(World& w, std::vector<Words>& ranges) {
  ranges.push_back(w.range("a", 6, pinned()));
  ranges.push_back(w.range("b", 6));
  ranges.push_back(w.range(2, {.name = "c", .cold = Cold::host_mapped}));
  const Words &a = ranges[0], &b = ranges[1], &c = ranges[2];
  w.put(a, 0, 6, 1);
  w.put(b, 0, 6, 2, Access::overwrite);
  w.touch(a, 2, 2);
  w.touch(a, 2, 2);
  w.settle();
  w.engine.prefetch({World::reading(b, 0)});
  for (int tries = 0; !World::resident(b, 0) && tries < 100'000; ++tries) (void)w.engine.stats();
  (void)w.engine.acquire(w.stream, {in_place(c), World::reading(b, 0)});
  for (Passes passes = w.engine.passes(w.stream, {read(a)}); passes.next();)
    w.engine.synchronize(w.stream);
  w.engine.flush(a);
  w.settle();
  return w.engine.stats();
}

TEST(Stats, AddUp) {
  World w = World::of(4);
  std::vector<Words> ranges;
  const Stats stats = busy(w, ranges);
  Traffic sum;
  for (const RangeStats& range : stats.ranges) {
    sum.hits += range.hits;
    sum.faults += range.faults;
    sum.prefetched += range.prefetched;
    sum.evictions += range.evictions;
    sum.write_backs += range.write_backs;
    sum.bytes_in += range.bytes_in;
    sum.bytes_out += range.bytes_out;
  }
  EXPECT_EQ(stats.hits, sum.hits);
  EXPECT_EQ(stats.faults, sum.faults);
  EXPECT_EQ(stats.evictions, sum.evictions);
  EXPECT_EQ(stats.bytes_in, sum.bytes_in);
  EXPECT_EQ(stats.bytes_out, sum.bytes_out);
  EXPECT_EQ(stats.bytes_out, stats.write_backs * chunk);
  EXPECT_EQ(stats.hits + stats.faults, 6u + 6 + 4 + 1 + 6);
  EXPECT_EQ(stats.faults + stats.prefetched, stats.evictions + stats.devices[0].resident / chunk);
  EXPECT_EQ(stats.devices[0].pinned, 0u);
  EXPECT_EQ(stats.devices[0].budget, 4 * chunk);
  EXPECT_EQ(stats.devices[0].allocated, w.host.allocated(0));
  EXPECT_EQ(stats.host_pinned, w.host.pinned());
  EXPECT_EQ(stats.map.calls, w.host.calls(vmm::Call::map));
  EXPECT_EQ(stats.set_access.calls, w.host.calls(vmm::Call::set_access));
  EXPECT_EQ(stats.unmap.calls, w.host.calls(vmm::Call::unmap));
  EXPECT_GT(stats.map.time.count(), 0);
  EXPECT_GT(stats.stalls, 0u);
  EXPECT_GT(stats.stalled.count(), 0);
}

TEST(Stats, CountALeaseAsPinnedAndLeasedUntilItEnds) {
  World w = World::of(4);
  const Words a = w.range("a", 3);
  Lease lease = w.engine.acquire(w.stream, {read(a)});
  EXPECT_EQ(w.engine.leased(), 3 * chunk);
  EXPECT_EQ(w.pinned(), 3 * chunk);
  Gate gate;
  vmm::launch(w.stream, gate.held());
  lease.release();
  EXPECT_EQ(w.engine.leased(), 0u);
  EXPECT_EQ(w.pinned(), 3 * chunk);
  gate.open();
  w.settle();
}

TEST(Traces, HaveARecordForEachHitFaultAndPrefetch) {
  const Folder folder;
  Stats stats;
  {
    World w = World::of(4, {.trace = folder / "trace"});
    std::vector<Words> ranges;
    stats = busy(w, ranges);
  }
  const std::vector<std::byte> bytes = bytes_of(folder / "trace");
  constexpr std::size_t header = 8 + 8 + 3 + 8;
  ASSERT_EQ((bytes.size() - header) % sizeof(TraceRecord), 0u);
  EXPECT_EQ(std::memcmp(bytes.data(), "HOLDTRC2\1\0\0\0\3\0\0\0lru", 19), 0);
  Bytes budget = 0;
  std::memcpy(&budget, &bytes[19], 8);
  EXPECT_EQ(budget, 4 * chunk);
  std::uint64_t hits = 0, faults = 0, prefetched = 0, last = 0;
  for (std::size_t at = header; at < bytes.size(); at += sizeof(TraceRecord)) {
    TraceRecord record;
    std::memcpy(&record, &bytes[at], sizeof record);
    EXPECT_LE(record.kind, trace_told);
    if (record.kind >= trace_hint) continue;
    (record.outcome == 0 ? hits : record.kind == 4 ? prefetched : faults)++;
    EXPECT_LE(record.outcome, 1);
    EXPECT_EQ(record.bytes, chunk);
    EXPECT_EQ(record.device, 0);
    EXPECT_LT(record.range, 3u);
    EXPECT_LT(record.chunk, 6u);
    EXPECT_EQ(record.next_use, ~std::uint64_t{0});
    EXPECT_EQ(record.lease == 0, record.kind == 4);
    last = std::max(last, record.time);
  }
  EXPECT_EQ(hits, stats.hits);
  EXPECT_EQ(faults, stats.faults);
  EXPECT_EQ(prefetched, stats.prefetched);
  EXPECT_LT(last, 60'000'000'000u) << "since the recording began";
}

// Passes hand chunks out in their own order; each takes up its own declared uses all the same.
TEST(Traces, SayThatPassesTakeUpDeclaredUses) {
  const Folder folder;
  {
    World w = World::of(4, {.policy = "opt", .trace = folder / "trace"});
    const Words a = w.range("a", 10);
    w.engine.schedule({read(a)}, 3);
    for (int sweep = 0; sweep < 3; ++sweep)
      for (Passes passes = w.engine.passes(w.stream, {read(a)}); passes.next();)
        w.engine.synchronize(w.stream);
  }
  const std::vector<std::byte> bytes = bytes_of(folder / "trace");
  std::map<std::uint64_t, std::vector<std::uint64_t>> next_uses;
  for (std::size_t at = 8 + 8 + 3 + 8; at < bytes.size(); at += sizeof(TraceRecord)) {
    TraceRecord record;
    std::memcpy(&record, &bytes[at], sizeof record);
    if (record.kind == trace_read) next_uses[record.chunk].push_back(record.next_use);
  }
  ASSERT_EQ(next_uses.size(), 10u);
  for (const auto& [chunk, uses] : next_uses)
    EXPECT_EQ(uses, (std::vector{10 + chunk, 20 + chunk, Request::never})) << chunk;
}

TEST(Traces, HaveTheHitsOfARangeBeforeItsEnd) {
  const Folder folder;
  {
    World w = World::of(4, {.trace = folder / "trace"});
    Words a = w.range("a", 2);
    for (int i = 0; i < 3; ++i) w.touch(a, 0, 2);
    w.engine.drop(a);
  }
  const std::vector<std::byte> bytes = bytes_of(folder / "trace");
  std::vector<std::uint8_t> kinds;  // of requests and removals
  for (std::size_t at = 8 + 8 + 3 + 8; at < bytes.size(); at += sizeof(TraceRecord)) {
    TraceRecord record;
    std::memcpy(&record, &bytes[at], sizeof record);
    if (record.kind < trace_hint || record.kind == trace_remove) kinds.push_back(record.kind);
  }
  const auto removed = std::ranges::find(kinds, std::uint8_t{trace_remove});
  EXPECT_EQ(removed - kinds.begin(), 6) << "two faults and four hits";
  EXPECT_EQ(kinds.end() - removed, 2);
}

TEST(Traces, AreThereOnceTheEngineHasEnded) {
  const Folder folder;
  {
    World w = World::of(4, {.trace = folder / "trace", .timeline = folder / "timeline"});
    EXPECT_FALSE(std::filesystem::exists(folder / "trace"));
    EXPECT_FALSE(std::filesystem::exists(folder / "timeline"));
  }
  EXPECT_TRUE(std::filesystem::exists(folder / "trace"));
  EXPECT_TRUE(std::filesystem::exists(folder / "timeline"));
}

TEST(Traces, OfAnEngineThatAnExceptionEndsAreThrownAway) {
  const Folder folder;
  std::ofstream(folder / "trace") << "old";
  try {
    World w = World::of(4, {.trace = folder / "trace", .timeline = folder / "timeline"});
    throw std::runtime_error("the program fails");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(bytes_of(folder / "trace").size(), 3u);
  EXPECT_FALSE(std::filesystem::exists(folder / "timeline"));
  EXPECT_FALSE(std::filesystem::exists(folder / "trace.unfinished"));
}

TEST(Timelines, AreChromeTraceEvents) {
  const Folder folder;
  {
    World w = World::of(4, {.timeline = folder / "timeline"});
    std::vector<Words> ranges;
    (void)busy(w, ranges);
  }
  std::ifstream in(folder / "timeline");
  const nlohmann::json events = nlohmann::json::parse(in);
  ASSERT_TRUE(events.is_array());
  std::map<int, std::string> tracks;
  std::uint64_t timed = 0;
  for (const auto& event : events) {
    if (event["ph"] == "M") {
      tracks[event["tid"]] = event["args"]["name"];
      continue;
    }
    EXPECT_EQ(event["ph"], "X");
    EXPECT_TRUE(tracks.contains(event["tid"]));
    EXPECT_GE(event["ts"].get<double>(), 0);
    EXPECT_GE(event["dur"].get<double>(), 0);
    EXPECT_TRUE(event["args"]["range"].is_string());
    ++timed;
  }
  EXPECT_GT(timed, 10u);
  std::vector<std::string> names;
  for (const auto& [id, name] : tracks) names.push_back(name);
  for (const std::string track : {"pager", "acquire", "copy in 0", "copy out 0"})
    EXPECT_NE(std::ranges::find(names, track), names.end()) << track;
}

TEST(Timelines, OfNothingAreStillJson) {
  const Folder folder;
  { World w = World::of(1, {.timeline = folder / "timeline"}); }
  std::ifstream in(folder / "timeline");
  EXPECT_TRUE(nlohmann::json::parse(in).is_array());
}

}  // namespace
}  // namespace holdall
