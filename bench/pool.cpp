// What two devices in one pool give and cost. Skips itself where there are not two that reach each other.
#include <benchmark/benchmark.h>

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "engine/engine.hpp"
#include "engine/vmm/host.hpp"

namespace holdall {
namespace {

using Clock = std::chrono::steady_clock;

// The GPUs if there are two, else two devices of the host driver.
std::unique_ptr<vmm::Driver> driver() {
  if (vmm::cuda_available()) return vmm::make_cuda_driver();
  return vmm::make_host_driver({.devices = 2, .capacity = 1_GiB});
}
bool on_gpu() {
  static const bool yes = vmm::cuda_available();
  return yes;
}
bool alone(benchmark::State& state, const vmm::Driver& driver) {
  if (driver.devices() >= 2 && driver.can_access_peer(0, 1) && driver.can_access_peer(1, 0)) return false;
  state.SkipWithError("needs two devices that reach each other");
  return true;
}
double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

// How fast does one device copy from the other's memory? Argument: MiB a copy.
void peer_copy(benchmark::State& state) {
  const auto port = driver();
  if (alone(state, *port)) return;
  const Bytes bytes = static_cast<Bytes>(state.range(0)) << 20;
  std::byte* at = nullptr;
  vmm::check(port->reserve(at, 2 * bytes, 0, "peer copy"), "reserve");
  for (int d = 0; d < 2; ++d) {
    vmm::Frame frame{};
    vmm::check(port->create(frame, bytes, {vmm::Place::device, d}), "create");
    vmm::check(port->map(at + static_cast<Bytes>(d) * bytes, bytes, frame), "map");
    vmm::check(port->release(frame), "release");
  }
  vmm::check(port->set_access(at, 2 * bytes, {{{vmm::Place::device, 0}}, {{vmm::Place::device, 1}}}), "set access");
  Stream stream;
  vmm::check(port->create_stream(stream, 0), "create a stream");
  const int copies = 64;
  for (auto _ : state) {
    for (int i = 0; i < copies; ++i) vmm::check(port->copy(at, at + bytes, bytes, stream), "copy");
    vmm::check(port->synchronize(stream), "wait");
  }
  state.counters["GB/s"] = benchmark::Counter(static_cast<double>(copies * bytes) / 1e9,
                                              benchmark::Counter::kIsIterationInvariantRate);
  vmm::check(port->destroy_stream(stream), "destroy a stream");
  vmm::check(port->unmap(at, 2 * bytes), "unmap");
  vmm::check(port->unreserve(at, 2 * bytes), "unreserve");
}
BENCHMARK(peer_copy)->ArgName("MiB")->Arg(2)->Arg(8)->Arg(64)->UseRealTime()->Unit(benchmark::kMillisecond);

// What do map, set-access and unmap of a chunk cost with so many devices in the access list?
// Arguments: MiB a chunk, devices.
void remap(benchmark::State& state) {
  const auto port = driver();
  if (alone(state, *port)) return;
  const Bytes bytes = static_cast<Bytes>(state.range(0)) << 20;
  std::vector<vmm::Grant> grants{{{vmm::Place::device, 0}}};
  if (state.range(1) == 2) grants.push_back({{vmm::Place::device, 1}});
  std::byte* at = nullptr;
  vmm::check(port->reserve(at, bytes, 0, "remap"), "reserve");
  vmm::Frame frame{};
  vmm::check(port->create(frame, bytes, {vmm::Place::device, 0}), "create");
  Clock::duration map{}, access{}, unmap{};
  std::uint64_t n = 0;
  for (auto _ : state) {
    const auto began = Clock::now();
    vmm::check(port->map(at, bytes, frame), "map");
    const auto mapped = Clock::now();
    vmm::check(port->set_access(at, bytes, std::span<const vmm::Grant>(grants)), "set access");
    const auto granted = Clock::now();
    vmm::check(port->unmap(at, bytes), "unmap");
    map += mapped - began, access += granted - mapped, unmap += Clock::now() - granted;
    ++n;
  }
  const auto us = [&](Clock::duration time) { return 1e6 * seconds(time) / static_cast<double>(n); };
  state.counters["map_us"] = us(map);
  state.counters["access_us"] = us(access);
  state.counters["unmap_us"] = us(unmap);
  vmm::check(port->release(frame), "release");
  vmm::check(port->unreserve(at, bytes), "unreserve");
}
BENCHMARK(remap)->ArgNames({"MiB", "devices"})->ArgsProduct({{2, 8}, {1, 2}})->Iterations(2000)->UseRealTime();

Config config(int devices, Bytes memory) {
  Config config;
  config.devices = devices;
  config.memory = memory;
  config.host_memory = on_gpu() ? 64_GiB : 3_GiB;
  config.driver = on_gpu() ? "cuda" : "host";
  return config;
}
std::unique_ptr<Engine> engine_of(int devices, Bytes memory) {
  if (on_gpu()) return std::make_unique<Engine>(config(devices, memory));
  return std::make_unique<Engine>(vmm::make_host_driver({.devices = devices, .capacity = 1_GiB}),
                                  config(devices, memory));
}

// How fast is a cold sweep over four times the pool, the range split between the devices? Argument: devices.
void sweep(benchmark::State& state) {
  if (alone(state, *driver())) return;
  const int devices = static_cast<int>(state.range(0));
  const Bytes memory = on_gpu() ? 4_GiB : 64_MiB;
  const auto engine = engine_of(devices, memory);
  const Bytes each = 4 * memory;
  auto range = engine->reserve<std::byte>(static_cast<Bytes>(devices) * each, {.name = "swept", .backing = pinned()});
  (void)engine->contents(range);
  const Bytes step = 4 * range.chunk_bytes();
  const auto part = [&](int device) {
    const Stream stream = engine->stream(device);
    const Bytes first = static_cast<Bytes>(device) * each;
    for (Bytes at = 0; at < each; at += step) {
      if (at + step < each) engine->prefetch({read(range, first + at + step, step)}, device);
      const auto lease = engine->acquire(stream, {read(range, first + at, step)});
    }
    engine->synchronize(stream);
  };
  const auto all = [&] {
    std::vector<std::thread> threads;
    for (int d = 1; d < devices; ++d) threads.emplace_back(part, d);
    part(0);
    for (std::thread& thread : threads) thread.join();
  };
  all();
  const Bytes before = engine->stats().bytes_in;
  for (auto _ : state) all();
  state.counters["GB/s"] =
      benchmark::Counter(static_cast<double>(engine->stats().bytes_in - before) / 1e9, benchmark::Counter::kIsRate);
}
BENCHMARK(sweep)->ArgName("devices")->Arg(1)->Arg(2)->Iterations(3)->UseRealTime()->Unit(benchmark::kMillisecond);

// A range twice the budget of one device, every chunk written in turn: what does it cost when evicted chunks find room on
// the other device (1), and when they go to the host (0)?
void evict(benchmark::State& state) {
  if (alone(state, *driver())) return;
  const bool to_peer = state.range(0) == 1;
  const Bytes memory = on_gpu() ? 4_GiB : 64_MiB;
  Stats stats;
  std::uint64_t chunks = 0;
  for (auto _ : state) {
    const auto engine = engine_of(2, memory);
    engine->set_memory(1, to_peer ? 2 * memory : 0);
    auto range = engine->reserve<std::byte>(2 * memory, {.name = "evicted", .backing = pinned()});
    (void)engine->contents(range);
    chunks = range.chunks();
    const Stream stream = engine->stream(0);
    const auto began = Clock::now();
    for (std::uint64_t c = 0; c < chunks; ++c) {
      {
        const auto lease = engine->acquire(stream, {write(range, c * range.chunk_bytes(), range.chunk_bytes())});
      }
      engine->synchronize(stream);  // else, for want of a victim, the chunk comes to the other device at once
    }
    state.SetIterationTime(seconds(Clock::now() - began));
    stats = engine->stats();
  }
  state.counters["moved"] = static_cast<double>(stats.devices[0].moved_to_peers);
  state.counters["write_backs"] = static_cast<double>(stats.write_backs);
  state.counters["us_a_chunk"] =
      benchmark::Counter(1e-6 * static_cast<double>(chunks),
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(evict)->ArgName("to_peer")->Arg(0)->Arg(1)->Iterations(3)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace holdall

BENCHMARK_MAIN();
