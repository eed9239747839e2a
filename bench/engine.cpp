// What paging costs. On a GPU where there is one; sizes are smaller on the host driver. Rates are
// of bytes that cross the link; the raw copy stands beside them.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "engine/engine.hpp"

namespace holdall {
namespace {

bool on_gpu() {
  static const bool yes = vmm::cuda_available();
  return yes;
}

Bytes budget() { return on_gpu() ? 4_GiB : 128_MiB; }

Config config(Bytes memory, Bytes chunk) {
  Config config;
  config.memory = memory;
  config.host_memory = on_gpu() ? 48_GiB : 2_GiB;
  config.chunk = chunk;
  return config;
}

double rate(Bytes bytes, std::chrono::steady_clock::duration time) {
  return static_cast<double>(bytes) / std::chrono::duration<double>(time).count();
}

// Best of five: bytes a second between the backing of `range` and `resident` chunks of it, straight
// through the driver.
double raw_rate(Engine& engine, Range<std::byte>& range, bool in, bool out) {
  vmm::Driver& driver = engine.driver();
  const Stream streams[] = {engine.stream(), engine.stream()};
  const Bytes half = std::min<Bytes>(engine.memory() / 4, 1_GiB);
  const Lease lease = engine.acquire(streams[0], {read(range, 0, 2 * half)});
  engine.synchronize(streams[0]);
  std::byte* const host = engine.contents(range);
  double best = 0;
  for (int i = 0; i < 5; ++i) {
    const auto began = std::chrono::steady_clock::now();
    for (Bytes at = 0; at < half; at += range.chunk_bytes()) {
      if (in)
        vmm::check(driver.copy(range.data() + at, host + at, range.chunk_bytes(), streams[0]),
                   "copy in");
      if (out)
        vmm::check(driver.copy(host + half + at, range.data() + half + at, range.chunk_bytes(),
                               streams[1]),
                   "copy out");
    }
    for (const Stream stream : streams) engine.synchronize(stream);
    best = std::max(best, rate((in + out) * half, std::chrono::steady_clock::now() - began));
  }
  return best;
}

// How near to the link's rate is a cold sequential sweep over four times the budget? Argument: MiB
// a chunk; whether each chunk is dirtied.
void sweep(benchmark::State& state) {
  const Bytes chunk = static_cast<Bytes>(state.range(0)) << 20;
  const bool dirty = state.range(1);
  Engine engine(config(budget(), chunk));
  auto range = engine.reserve<std::byte>(4 * budget(), {.name = "swept", .backing = pinned()});
  (void)engine.contents(range);
  const Stream stream = engine.stream();
  const double raw = raw_rate(engine, range, true, dirty);
  const Bytes step = std::max<Bytes>(chunk, 32_MiB);
  Bytes moved = 0;
  std::uint64_t faults = 0;
  std::chrono::steady_clock::duration time{};
  std::chrono::nanoseconds map{}, set_access{}, unmap{};
  const auto once = [&] {
    for (Bytes at = 0; at < range.size(); at += step) {
      const auto lease =
          engine.acquire(stream, {dirty ? write(range, at, step) : read(range, at, step)});
      for (Bytes c = at; c < at + step; c += chunk)
        if (dirty) vmm::check(engine.driver().fill(range.data() + c, 1, 4096, stream), "touch");
    }
    engine.synchronize(stream);
  };
  once();  // frames are made, everything is as it will be
  for (auto _ : state) {
    const Stats before = engine.stats();
    const auto began = std::chrono::steady_clock::now();
    once();
    time += std::chrono::steady_clock::now() - began;
    const Stats after = engine.stats();
    moved += after.bytes_in - before.bytes_in + after.bytes_out - before.bytes_out;
    faults += after.faults - before.faults;
    map += after.map.time - before.map.time;
    set_access += after.set_access.time - before.set_access.time;
    unmap += after.unmap.time - before.unmap.time;
  }
  state.counters["GB/s"] = rate(moved, time) / 1e9;
  state.counters["raw_GB/s"] = raw / 1e9;
  state.counters["of_raw"] = rate(moved, time) / raw;
  const auto us_a_chunk = [&](std::chrono::nanoseconds time) {
    return std::chrono::duration<double, std::micro>(time).count() / static_cast<double>(faults);
  };
  state.counters["map_us"] = us_a_chunk(map);
  state.counters["access_us"] = us_a_chunk(set_access);
  state.counters["unmap_us"] = us_a_chunk(unmap);
}
BENCHMARK(sweep)
    ->ArgNames({"MiB", "dirty"})
    ->ArgsProduct({{2, 4, 8, 16, 64}, {0, 1}})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(2)
    ->UseRealTime();

// How long is one fault, from the call to the moment at which a kernel may start (copy included)?
// Argument: MiB a chunk.
void fault(benchmark::State& state) {
  const Bytes chunk = static_cast<Bytes>(state.range(0)) << 20;
  const std::uint64_t frames = 32;
  Engine engine(config(frames * chunk, chunk));
  auto range =
      engine.reserve<std::byte>(4 * frames * chunk, {.name = "faulted", .backing = pinned()});
  (void)engine.contents(range);
  const Stream stream = engine.stream();
  std::uint64_t next = 0;
  const auto touch = [&] {
    const auto lease = engine.acquire(stream, {read(range, next++ % range.chunks() * chunk, 1)});
    engine.synchronize(stream);
  };
  for (std::uint64_t i = 0; i < 2 * frames; ++i) touch();
  std::vector<double> us;
  for (auto _ : state) {
    const auto began = std::chrono::steady_clock::now();
    touch();
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    state.SetIterationTime(seconds);
    us.push_back(seconds * 1e6);
  }
  std::ranges::sort(us);
  state.counters["median_us"] = us[us.size() / 2];
  state.counters["p99_us"] = us[us.size() * 99 / 100];
}
BENCHMARK(fault)->ArgName("MiB")->Arg(2)->Arg(8)->Iterations(2000)->UseManualTime();

// What does a lease on chunks that are resident cost? Argument: chunks a lease. Each thread has a
// stream and 64 chunks of its own, and leases them in turn.
void hit(benchmark::State& state) {
  static std::unique_ptr<Engine> engine;
  static Range<std::byte> range;
  constexpr std::uint64_t own = 64;
  const auto chunks = static_cast<std::uint64_t>(state.range(0));
  const Bytes chunk = 2_MiB;
  if (state.thread_index() == 0) {
    const auto threads = static_cast<std::uint64_t>(state.threads());
    engine = std::make_unique<Engine>(config((threads * own + 4) * chunk, chunk));
    range = engine->reserve<std::byte>(threads * own * chunk, {.name = "hit"});
    const auto lease = engine->acquire(engine->stream(), {write(range)});
  }
  Stream stream;
  bool made = false;
  const std::uint64_t first = static_cast<std::uint64_t>(state.thread_index()) * own;
  std::uint64_t next = 0;
  for (auto _ : state) {
    if (!made) {  // after the start barrier, so the engine is there
      stream = engine->stream();
      made = true;
    }
    const Bytes at = (first + next) * chunk;
    next = (next + chunks) % own;
    const auto lease = engine->acquire(stream, {read(range, at, chunks * chunk)});
    benchmark::DoNotOptimize(&lease);
  }
  state.SetItemsProcessed(state.iterations());
  if (state.thread_index() == 0) {
    range = {};
    engine.reset();
  }
}
BENCHMARK(hit)->ArgName("chunks")->Arg(1)->Arg(16)->Arg(64)->Iterations(400000);
BENCHMARK(hit)
    ->ArgName("chunks")
    ->Arg(1)
    ->Threads(2)
    ->Threads(8)
    ->Iterations(400000)
    ->UseRealTime();

// What does shadow mode cost? A working set of twice the budget, leased a chunk at a time, the
// nearer to its start the oftener, so that most leases hit: with and without two shadows in turn,
// best of each.
void shadow(benchmark::State& state) {
  constexpr std::uint64_t frames = 32, leases = 20000;
  constexpr Bytes chunk = 2_MiB;
  double best[2] = {1e9, 1e9};
  for (auto _ : state)
    for (const bool on : {false, true}) {
      Config with = config(frames * chunk, chunk);
      if (on) with.shadow = "lirs,s3fifo";
      Engine engine(with);
      auto range = engine.reserve<std::byte>(2 * frames * chunk, {.name = "shadowed"});
      const Stream stream = engine.stream();
      std::uint64_t random = 1;
      const auto below = [&](std::uint64_t n) {
        random = random * 6364136223846793005 + 1442695040888963407;
        return (random >> 33) % n;
      };
      const auto began = std::chrono::steady_clock::now();
      for (std::uint64_t i = 0; i < leases; ++i) {
        const std::uint64_t at = below(64) ? below(frames / 2) : below(2 * frames);
        const auto lease = engine.acquire(stream, {read(range, at * chunk, chunk)});
      }
      engine.synchronize(stream);
      (void)engine.stats();  // all is told
      best[on] =
          std::min(best[on],
                   std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
    }
  state.counters["off_ns"] = best[0] / leases * 1e9;
  state.counters["on_ns"] = best[1] / leases * 1e9;
  state.counters["on_over_off"] = best[1] / best[0];
}
BENCHMARK(shadow)->Unit(benchmark::kMillisecond)->Iterations(10)->UseRealTime();

// How fast is a pinned backing ready for use?
void pinned_backing(benchmark::State& state) {
  Engine engine(config(budget(), 8_MiB));
  const Bytes bytes = on_gpu() ? 16_GiB : 512_MiB;
  double best = 0;
  for (auto _ : state) {
    const auto began = std::chrono::steady_clock::now();
    auto range = engine.reserve<std::byte>(bytes, {.name = "pinned", .backing = pinned()});
    benchmark::DoNotOptimize(engine.contents(range));
    best = std::max(best, rate(bytes, std::chrono::steady_clock::now() - began));
  }
  state.counters["GB/s"] = best / 1e9;
}
BENCHMARK(pinned_backing)->Unit(benchmark::kMillisecond)->Iterations(2)->UseRealTime();

// How long does it take to reserve 16 TiB, and what does it cost a chunk?
void reserve(benchmark::State& state) {
  Engine engine(config(budget(), 8_MiB));
  for (auto _ : state) {
    auto range = engine.reserve<std::byte>(16_TiB, {.name = "huge"});
    benchmark::DoNotOptimize(range.data());
  }
  state.counters["bytes_a_chunk"] = sizeof(Chunk) + sizeof(ChunkNotes);
}
BENCHMARK(reserve)->Unit(benchmark::kMillisecond)->Iterations(3)->UseRealTime();

}  // namespace
}  // namespace holdall

BENCHMARK_MAIN();
