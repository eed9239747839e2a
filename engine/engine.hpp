// Start here. Holdall pages GPU data that is bigger than the GPU.
//
// A *range* is a reserved interval of virtual addresses with a *backing* (pinned host memory, a file, or zeros); its pointer
// never changes. It is paged in *chunks* (8 MiB by default), each resident in a *frame* of device memory or not. Before a
// kernel runs, a *lease* says what it will touch: missing chunks are brought in, all are pinned until the GPU has passed the
// lease's end. What is evicted for them is up to a *policy* (policies/policy.hpp).
//
//   holdall::Engine engine({.memory = 8_GiB, .policy = "lru"});
//   auto edges = engine.reserve<uint32_t>(4'000'000'000, {.name = "edges", .backing = file("graph.hold", offset)});
//   {
//     auto lease = engine.acquire(stream, {read(edges, first, count)});
//     step<<<grid, block, 0, stream>>>(edges.data(), first, count);
//   }
//
// Three ways to say what a kernel needs: `acquire` (known and fits), `passes` (known and may not fit), `demand` (the kernel
// finds out). Errors are in engine/error.hpp. All of Engine is thread-safe; it outlives its ranges and leases.
// Behind it: engine/pager.hpp, the one component that changes mappings; engine/vmm/driver.hpp, the door to the driver.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <string>

#include "engine/access.hpp"
#include "engine/config.hpp"
#include "engine/demand.hpp"
#include "engine/error.hpp"
#include "engine/host_array.hpp"
#include "engine/lease.hpp"
#include "engine/pager.hpp"
#include "engine/passes.hpp"
#include "engine/range.hpp"
#include "engine/stats.hpp"

namespace holdall {

class Engine {
 public:
  // Throws NoDevice if a GPU was asked for and there is none, PolicyError for an unknown policy, DriverError.
  explicit Engine(const Config& config = {});
  // Over a driver of one's own; config.driver is ignored.
  Engine(std::unique_ptr<vmm::Driver> driver, const Config& config);
  // Waits for the GPU; then as close(), but an error is lost.
  ~Engine();
  Engine(Engine&&) noexcept;

  // `count` elements of T; memory is used as it is paged in. Costs 64 bytes of host memory a chunk, once touched.
  // Throws InvalidAccess (chunk size), WorkingSetTooLarge (chunk above the budget), OutOfHostMemory, BackingError, DriverError.
  template <class T>
  Range<T> reserve(std::uint64_t count, const RangeOptions& options = {}) {
    return {*pager_, pager_->reserve(count > all / sizeof(T) ? all : count * sizeof(T), options)};
  }
  // As destroying the range, but with errors: BackingError if a write-back fails, WouldDeadlock if the caller leases it.
  template <class T>
  void drop(Range<T>& range) {
    pager_->drop(range.state());
  }

  // Makes every chunk of `accesses` resident and pins it until the lease ends and the GPU has passed that point.
  // Returns when the mappings stand; copies in are ordered before later work on `stream`. Waits for others' leases if it
  // must, holding nothing meanwhile. Throws WorkingSetTooLarge (needed and available bytes), WouldDeadlock, InvalidAccess,
  // RangeDropped, OutOfHostMemory, BackingError, DriverError. On a throw nothing has changed.
  Lease acquire(Stream stream, std::span<const Access> accesses) {
    return {*pager_, pager_->acquire(stream, accesses)};
  }
  Lease acquire(Stream stream, std::initializer_list<Access> accesses) {
    return acquire(stream, std::span(accesses.begin(), accesses.size()));
  }

  // The chunks of `accesses` in passes that fit, resident ones first. See engine/passes.hpp. Throws as acquire does.
  Passes passes(Stream stream, std::span<const Access> accesses) {
    return {*pager_, stream, pager_->needs_of(accesses)};
  }
  Passes passes(Stream stream, std::initializer_list<Access> accesses) {
    return passes(stream, std::span(accesses.begin(), accesses.size()));
  }

  // The same for chunks of several ranges that are needed together: chunk i of each, for every i in `chunks`. The parts of a
  // pass are single chunks, those of one i in a row.
  template <class... T>
  Passes passes_together(Stream stream, const ChunkSet& chunks, const Range<T>&... ranges) {
    std::vector<Need> needs;
    for (const ChunkRun run : chunks.runs())
      for (std::uint64_t c = run.first; c < run.first + run.count; ++c)
        (needs.push_back({&ranges.state(), {c, 1}, Access::read}), ...);
    return {*pager_, stream, std::move(needs), sizeof...(T)};
  }

  // Kernels say themselves which chunks of `range` they missed. See engine/demand.hpp.
  template <class T>
  Demand demand(Stream stream, const Range<T>& range, Access::Kind kind = Access::read) {
    return {*pager_, stream, range.state(), kind};
  }

  // Hints: never an error, may be dropped, never evict what is leased.
  void prefetch(std::initializer_list<Access> accesses, int device = 0) {
    pager_->prefetch(device, std::span(accesses.begin(), accesses.size()));
  }
  void advise(const Access& part, Advice advice) { pager_->advise(part, advice); }

  // Declares that the chunks of `accesses` will be leased next, in this order, `times` over, behind what was declared
  // before; policies that look ahead (opt) go by it. Each lease of a chunk takes up its earliest declared use. Costs some
  // 8 bytes of host memory a use until then. Throws as acquire does for accesses that are none.
  void schedule(std::span<const Access> accesses, std::uint64_t times = 1) { pager_->schedule(accesses, times); }
  void schedule(std::initializer_list<Access> accesses, std::uint64_t times = 1) {
    schedule(std::span(accesses.begin(), accesses.size()), times);
  }
  // Takes back what was declared and has not come to pass.
  void forget_schedule() { pager_->forget_schedule(); }

  // Copies between ordinary host memory and elements [first, first + count) of a range, by a stream of `device`; return when
  // done. Throw as acquire does.
  template <class T>
  void load(const Range<T>& to, std::uint64_t first, std::span<const T> from, int device = 0) {
    load(to.state(), first * sizeof(T), std::as_bytes(from), device);
  }
  template <class T>
  void store(const Range<T>& from, std::uint64_t first, std::span<T> to, int device = 0) {
    store(from.state(), first * sizeof(T), std::as_writable_bytes(to), device);
  }
  // The whole of a pinned or host-mapped range's backing, in place; nullptr for other backings. Write to it before the range
  // is first leased, or read it after a flush.
  template <class T>
  T* contents(const Range<T>& range) {
    return reinterpret_cast<T*>(pager_->contents(range.state()));
  }

  // Pinned host memory for such copies, zeroed; `what` names it in messages. Throws OutOfHostMemory.
  template <class T>
  HostArray<T> host_array(std::uint64_t count, const std::string& what) {
    return {pager_->host_memory(), count, what};
  }

  // Writes the dirty chunks of a range to its backing; durable, if that is a file, when it returns. Waits for leases on them.
  // Throws BackingError, DriverError, WouldDeadlock: what could not be written stays resident and dirty.
  template <class T>
  void flush(const Range<T>& range) {
    pager_->flush(range.state());
  }

  // Writes dirty chunks of writable files back, durably, and ends the recording of trace and timeline. To be called once
  // work is done; a second call does nothing. Throws BackingError, DriverError, WouldDeadlock: the first error there was,
  // the rest is done all the same.
  void close() { pager_->close(); }

  // Budgets, in bytes. Shrinking evicts at once what nobody pins, and the rest as leases end.
  void set_memory(int device, Bytes bytes);
  void set_host_memory(Bytes bytes) { pager_->set_host_memory(bytes); }
  Bytes memory(int device = 0) const { return pager_->memory(device); }

  // A stream that lives as long as the engine. Leases on it cost less than on a stream of the caller's own.
  Stream stream(int device = 0);
  // Waits until all work on it is done. Throws DriverError, naming the fault if the device is lost.
  void synchronize(Stream stream);

  int devices() const { return pager_->devices(); }
  vmm::Driver& driver() const { return pager_->driver(); }
  Stats stats() { return pager_->stats(); }
  // Bytes of chunks under leases that have not ended, on the streams of all devices or of one.
  Bytes leased() { return pager_->leased(); }
  Bytes leased(int device) { return pager_->leased(device); }
  Pager& pager() { return *pager_; }

 private:
  void load(RangeState& to, Bytes first, std::span<const std::byte> from, int device);
  void store(RangeState& from, Bytes first, std::span<std::byte> to, int device);

  std::unique_ptr<Pager> pager_;
};

template <class T>
Range<T>::~Range() {
  if (!state_ || state_->dropped) return;
  try {
    pager_->drop(*state_);
  } catch (const std::exception&) {
    // It stays until the engine ends, which tries again to write it back. Engine::drop says why.
  }
}

}  // namespace holdall
