#include "engine/pager.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "engine/error.hpp"
#include "engine/host_frames.hpp"
#include "engine/mark.hpp"
#include "engine/recorded_policy.hpp"
#include "policies/registry.hpp"

namespace holdall {

namespace {

Bytes machine_memory() {
  return static_cast<Bytes>(sysconf(_SC_PHYS_PAGES)) * static_cast<Bytes>(sysconf(_SC_PAGESIZE));
}

Bytes budget_of(const vmm::Driver& driver, int device, Bytes asked) {
  return asked ? asked : driver.info(device).free / 10 * 9;
}

}  // namespace

Pager::Device::Device(vmm::Driver& driver, int device, Bytes budget, const Config& config)
    : index(device),
      pool(driver, {vmm::Place::device, device}, budget),
      in(driver, device),
      out(driver, device),
      policy(make_policy(config.policy)) {
  policy->resize(budget);
  if (config.prefetch != "none") prefetch = make_prefetch(config.prefetch);
  if (!config.shadow.empty()) shadows = std::make_unique<Shadows>(config.shadow, pool.budget());
}

Pager::Pager(std::unique_ptr<vmm::Driver> driver, const Config& config)
    : driver_(std::move(driver)),
      config_(config),
      host_memory_(*driver_, config.host_memory ? config.host_memory : machine_memory() / 2,
                   driver_->info(0).numa_node),
      uses_(*driver_),
      mapper_(*driver_, config.devices),
      may_spin_(std::thread::hardware_concurrency() >= 4) {
  for (int i = 0; i < config.devices; ++i)
    devices_.push_back(std::make_unique<Device>(
        *driver_, i, budget_of(*driver_, i, config.memory), config));
  for (int device = 0; device < config.devices; ++device) {
    Reader& reader = readers_.emplace_back();
    reader.device = device;
    for (int owner = 0; owner < config.devices; ++owner) {
      const bool reached = owner == device || driver_->can_access_peer(device, owner);
      reader.reached[static_cast<std::size_t>(owner)] = reached;
      all_reach_ &= reached;
    }
  }
  for (auto& device : devices_)
    for (int peer = 0; peer < config.devices; ++peer)
      if (peer != device->index && driver_->can_access_peer(device->index, peer) &&
          driver_->can_access_peer(peer, device->index))
        device->peers.push_back(peer);
  if (!config.trace.empty()) {
    std::vector<std::uint64_t> budgets;
    for (const auto& device : devices_) budgets.push_back(device->pool.budget());
    trace_ = std::make_unique<TraceWriter>(config.trace, config.policy, budgets);
    for (auto& device : devices_)
      device->policy = record_policy(std::move(device->policy), *trace_, device->index);
  }
  if (!config.timeline.empty()) timeline_ = std::make_unique<Timeline>(config.timeline);
  thread_ = std::jthread([this] { run(); });
}

Pager::~Pager() {
  {
    const std::scoped_lock hold(lock_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
  // From here on this thread is the pager.
  uses_.finish();
  drain();
  for (auto& device : devices_) {
    (void)driver_->synchronize(device->in.stream());
    (void)driver_->synchronize(device->out.stream());
  }
  finish_write_backs(true);
  for (auto& range : ranges_)
    if (range->base) {
      try {
        if (range->backing->outlives_range()) (void)flush_step(*range);
      } catch (const std::exception&) {
        // Its owner could have asked by flush or drop.
      }
      release_range(*range);
    }
  for (auto& [bytes, staging] : staging_)
    for (std::byte* const slot : staging.slots) {
      host_memory_.unpin(slot, bytes);
      host_memory_.unreserve(slot, bytes);
      host_memory_.discharge(bytes);
    }
  for (auto& device : devices_)
    if (device->landing) (void)driver_->unreserve(device->landing, device->landing_bytes);
  for (auto& range : ranges_)
    if (range->table) munmap(range->table, range->table_bytes());
  try {
    if (!closed_) end_recording();
  } catch (const std::exception&) {
    // Engine::close reports it.
  }
}

Stream Pager::own_stream(int device) {
  const std::scoped_lock hold(own_streams_lock_);
  const auto at = own_streams_.find(device);
  return at != own_streams_.end() ? at->second
                                  : own_streams_[device] = uses_.create(device);
}

void Pager::prefetch(int device, std::span<const Access> accesses) {
  std::vector<Need> needs;
  try {
    needs = needs_of(accesses);
  } catch (const Error&) {
    return;  // a hint is never an error
  }
  post([&] {
    for (const Need& need : needs) prefetches_.push_back({device, need});
  });
}

void Pager::advise(const Access& part, Advice advice) {
  std::vector<Need> needs;
  try {
    append_needs({part.range, Access::read, part.first, part.bytes, part.chunks}, needs);
  } catch (const Error&) {
    return;
  }
  switch (advice) {
    case Advice::sequential: part.range->read_ahead = 2 * slice; return;
    case Advice::random: part.range->read_ahead = 0; return;
    case Advice::will_need:
      call([this, &needs] {
        std::uint64_t next_use = schedule_.now();
        for (const Need& need : needs)
          for (std::uint64_t i = need.run.first; i < need.run.first + need.run.count; ++i)
            tell_next_use(key(*need.range, i), next_use++);
        return true;
      });
      return prefetch(0, std::span(&part, 1));
    case Advice::normal:
    case Advice::keep:
    case Advice::do_not_need: break;
  }
  if (advice == Advice::normal) part.range->read_ahead = 0;
  call([this, &needs, advice] {
    for (const Need& need : needs)
      for (std::uint64_t i = need.run.first; i < need.run.first + need.run.count; ++i) {
        ChunkNotes& notes = need.range->notes[i];
        notes.keep = advice == Advice::keep;
        if (advice == Advice::do_not_need) tell_next_use(key(*need.range, i), Request::never);
        if (advice == Advice::do_not_need && notes.home && !notes.next_victim) {
          notes.next_victim = true;
          device_at(notes.home - 1).next_victims.push_front({need.range, i});
        }
      }
    return true;
  });
}

void Pager::schedule(std::span<const Access> accesses, std::uint64_t times) {
  std::vector<Need> needs;
  for (const Access& access : accesses) append_needs(access, needs);  // in their order, not merged
  call([&] {
    drain();  // earlier leases take up none of it
    for (std::uint64_t time = 0; time < times; ++time)
      for (const Need& need : needs)
        for (std::uint64_t i = need.run.first; i < need.run.first + need.run.count; ++i) {
          const Key chunk = key(*need.range, i);
          const std::uint64_t number = schedule_.append(chunk);
          if (schedule_.next_use(chunk) == number) tell_next_use(chunk, number);
        }
    return true;
  });
}

void Pager::forget_schedule() {
  call([this] {
    schedule_.clear([this](Key chunk) { tell_next_use(chunk, Request::never); });
    return true;
  });
}

void Pager::tell_next_use(Key chunk, std::uint64_t next_use) {
  for (auto& device : devices_) {
    device->policy->hinted(chunk, next_use);
    if (device->shadows) device->shadows->hinted(chunk, next_use);
  }
}

void Pager::flush(RangeState& range) {
  call([&] {
    if (range.dropped) throw RangeDropped(fmt::format("the range '{}' was dropped", range.name));
    return flush_step(range);
  });
}

void Pager::close() {
  if (closed_.exchange(true)) return;
  std::exception_ptr error;
  const auto attempt = [&](std::function<bool()> step) {
    try {
      call(std::move(step));
    } catch (...) {
      if (!error) error = std::current_exception();
    }
  };
  std::vector<RangeState*> lasting;
  call([&] {
    for (auto& range : ranges_)
      if (range->base && !range->dropped && range->backing->outlives_range())
        lasting.push_back(range.get());
    return true;
  });
  for (RangeState* const range : lasting)
    attempt([this, range] { return range->dropped || flush_step(*range); });
  attempt([this] {
    drain();
    end_recording();
    return true;
  });
  if (error) std::rethrow_exception(error);
}

void Pager::end_recording() {
  std::exception_ptr error;
  try {
    if (trace_) trace_->close();
  } catch (...) {
    error = std::current_exception();
  }
  if (timeline_) {
    for (auto& device : devices_) (void)driver_->synchronize(device->in.stream());  // what tells of copies
    timeline_->write();
  }
  if (error) std::rethrow_exception(error);
}

void Pager::set_memory(int device, Bytes bytes) {
  call([this, device, bytes] {
    Device& d = device_at(device);
    d.pool.set_budget(bytes);
    d.policy->resize(bytes);
    if (d.shadows) d.shadows->resize(bytes);
    uses_.note_unpin();  // who waits may try again
    shrink(d);
    return true;
  });
}

void Pager::set_host_memory(Bytes bytes) { host_memory_.set_budget(bytes); }

RangeState& Pager::reserve(Bytes bytes, const RangeOptions& options) {
  auto range = std::make_unique<RangeState>();
  range->name = options.name;
  range->bytes = bytes;
  range->chunk_bytes = options.chunk ? options.chunk : config_.chunk;
  range->cold = options.cold;
  const Bytes unit = driver_->granularity({vmm::Place::device, 0});
  if (bytes == 0) throw InvalidAccess(fmt::format("'{}' would have no bytes", range->name));
  if (range->chunk_bytes % unit || !std::has_single_bit(range->chunk_bytes / unit))
    throw InvalidAccess(fmt::format(
        "a chunk of {} won't do for '{}': it must be {} times a power of two, such as 8 MiB",
        to_string(range->chunk_bytes), range->name, to_string(unit)));
  range->chunks = bytes / range->chunk_bytes + (bytes % range->chunk_bytes != 0);
  if (range->chunks >> 40)
    throw InvalidAccess(
        fmt::format("'{}' would have {} chunks: use bigger ones, or fewer bytes than {}",
                    range->name, range->chunks, to_string(bytes)));
  RangeState& state = *range;
  call([&] {
    Bytes largest = 0;
    for (auto& device : devices_) largest = std::max(largest, device->pool.budget());
    if (largest < state.chunk_bytes)
      throw WorkingSetTooLarge(
          fmt::format("one chunk of '{}' has {}, the memory budget is {}: raise it (--memory) or use "
                      "smaller chunks (--chunk)",
                      state.name, to_string(state.chunk_bytes), to_string(largest)),
          state.chunk_bytes, largest);
    const Bytes table_bytes = state.table_bytes();
    void* const table = mmap(nullptr, table_bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (table == MAP_FAILED)
      throw OutOfHostMemory(fmt::format("no {} for the chunk table of '{}': use bigger chunks",
                                        to_string(table_bytes), state.name));
    state.table = static_cast<Chunk*>(table);
    state.notes = reinterpret_cast<ChunkNotes*>(state.table + state.chunks);
    const Bytes reserved = state.chunks * state.chunk_bytes;
    try {
      const vmm::Status status = driver_->reserve(state.base, reserved, 0, state.name);
      if (status != vmm::Status::ok)
        throw DriverError(status, fmt::format("cannot reserve {} of addresses for '{}': {}",
                                              to_string(reserved), state.name, to_string(status)));
      if (state.cold == Cold::host_mapped)
        state.backing = std::make_shared<HostFrames>(mapper_, host_memory_, state);
      else
        state.backing = make_backing(options.backing, state.name, bytes, state.chunk_bytes,
                                     host_memory_, slots_);
      state.writable = state.backing->writable();
      if (state.cold == Cold::host_mapped)
        for (std::uint64_t i = 0; i < state.chunks; ++i) map_host_frame(state, i);
    } catch (...) {
      if (state.base) release_range(state);
      munmap(table, table_bytes);
      throw;
    }
    state.id = static_cast<std::uint32_t>(ranges_.size());
    ranges_.push_back(std::move(range));
    return true;
  });
  return state;
}

void Pager::drop(RangeState& range) {
  if (range.dropped.exchange(true))
    throw RangeDropped(fmt::format("the range '{}' was dropped already", range.name));
  try {
    call([&] { return drop_step(range); });
  } catch (...) {
    range.dropped = false;
    throw;
  }
}

Stats Pager::stats() {
  Stats stats;
  call([&] {
    drain();
    bool waiting = false;
    uses_.retire(true, waiting);
    for (const auto& range : ranges_) {
      const auto& c = range->counters;
      RangeStats& r = stats.ranges.emplace_back();
      static_cast<Traffic&>(r) = {c.hits,      c.faults,      c.prefetched, c.evictions,
                                  c.write_backs, c.bytes_in, c.bytes_out};
      r.name = range->name;
      r.bytes = range->bytes;
      r.resident = c.resident;
      stats.hits += r.hits;
      stats.faults += r.faults;
      stats.prefetched += r.prefetched;
      stats.evictions += r.evictions;
      stats.write_backs += r.write_backs;
      stats.bytes_in += r.bytes_in;
      stats.bytes_out += r.bytes_out;
    }
    for (const auto& device : devices_) {
      DeviceStats& d = stats.devices.emplace_back();
      d.name = driver_->info(device->index).name;
      d.policy = config_.policy;
      d.budget = device->pool.budget();
      d.allocated = device->pool.allocated();
      d.resident = device->resident_bytes;
      d.moved_to_peers = device->moved_to_peers;
      if (device->shadows) d.shadows = device->shadows->stats();
      for (const Resident& at : device->resident)
        if (ChunkWord::of(at.range->table[at.chunk]).pins()) d.pinned += at.range->chunk_bytes;
    }
    return true;
  });
  stats.host_budget = host_memory_.budget();
  stats.host_pinned = host_memory_.used();
  stats.map = mapper_.maps();
  stats.set_access = mapper_.set_accesses();
  stats.unmap = mapper_.unmaps();
  stats.stalls = stalls_;
  stats.stalled = std::chrono::nanoseconds(stalled_);
  return stats;
}

std::byte* Pager::contents(RangeState& range) {
  std::byte* at = nullptr;
  call([&] {
    if (range.dropped) throw RangeDropped(fmt::format("the range '{}' was dropped", range.name));
    if (auto* const frames = dynamic_cast<HostFrames*>(range.backing.get()))
      at = frames->contents();
    else
      at = host_contents(*range.backing);
    return true;
  });
  return at;
}

bool Pager::flush_step(RangeState& range) {
  bool waiting = false;
  uses_.retire(true, waiting);
  std::vector<Resident> chunks;
  for (auto& device : devices_)
    for (const Resident& at : device->resident)
      if (at.range == &range) chunks.push_back(at);
  range.write_back_error = vmm::Status::ok;
  std::exception_ptr error;
  try {
    start_write_backs(chunks);
  } catch (...) {
    // One that can't be written does not keep the others back.
    error = std::current_exception();
    for (const Resident& at : chunks) try {
        start_write_backs(std::span(&at, 1));
      } catch (const std::exception&) {
        // Told below.
      }
  }
  finish_write_backs(true);
  if (error) std::rethrow_exception(error);
  if (range.write_back_error != vmm::Status::ok)
    throw DriverError(range.write_back_error,
                      fmt::format("cannot write '{}' back: {}; its chunks stay resident and dirty, "
                                  "nothing is lost",
                                  range.name, to_string(range.write_back_error)));
  for (const Resident& at : chunks)
    if (ChunkWord::of(range.table[at.chunk]).dirty()) return false;
  range.backing->flush();
  return true;
}

bool Pager::drop_step(RangeState& range) {
  bool waiting = false;
  uses_.retire(true, waiting);
  if (range.backing->outlives_range() && !flush_step(range)) return false;
  finish_write_backs(true);
  // 1. nobody pins it, or it is tried again later
  std::vector<Victim> victims;
  std::vector<std::uint64_t> at_host;
  bool free = true;
  for (auto& device : devices_)
    for (const Resident& at : device->resident) {
      if (at.range != &range || !free) continue;
      free = try_mark_leaving(range.table[at.chunk], false);
      if (!free) continue;
      Victim& victim = victims.emplace_back();
      victim.range = &range;
      victim.chunk = at.chunk;
      victim.device = device->index;
      victim.discard = true;
    }
  if (range.cold == Cold::host_mapped)
    for (std::uint64_t i = 0; i < range.chunks && free; ++i) {
      if (ChunkWord::of(range.table[i]).state() != Chunk::host_mapped) continue;
      free = try_mark_leaving(range.table[i], false);
      if (free) at_host.push_back(i);
    }
  if (!free) {
    for (const Victim& victim : victims) {
      const ChunkWord word = ChunkWord::of(range.table[victim.chunk]);
      publish(range.table[victim.chunk], Chunk::resident, word.device(), 0, word.dirty(), word.shared());
    }
    for (const std::uint64_t i : at_host) publish(range.table[i], Chunk::host_mapped, 0, 0, false);
    return false;
  }
  // 2. it goes, once the policies have heard of its last hits
  drain();
  for (const Victim& victim : victims)
    device_at(victim.device).policy->removed(key(range, victim.chunk), Left::dropped);
  for (auto& device : devices_)
    for (std::uint64_t i = 0; device->shadows && i < range.chunks; ++i)
      device->shadows->drop(key(range, i));
  leave(victims);
  for (Victim& victim : victims) drop_frame(victim);
  release_range(range);
  uses_.note_unpin();  // who waits for frames may try again
  return true;
}

void Pager::release_range(RangeState& range) {
  // What is still mapped here belongs to a range that the engine's end takes along, or to host frames.
  for (auto& device : devices_)
    for (std::size_t i = device->resident.size(); i-- > 0;) {
      const Resident at = device->resident[i];
      if (at.range != &range) continue;
      (void)mapper_.unmap(range.address(at.chunk), range.chunk_bytes);
      device->pool.give(range.chunk_bytes, range.notes[at.chunk].frame);
      remove_resident(range, at.chunk, device->index);
    }
  for (const std::uint64_t i : range.poisoned)
    if (mapper_.unmap(range.address(i), range.chunk_bytes) == vmm::Status::ok)
      device_at(ChunkWord::of(range.table[i]).device())
          .pool.give(range.chunk_bytes, range.notes[i].frame);
  if (auto* const frames = dynamic_cast<HostFrames*>(range.backing.get()))
    for (std::uint64_t i = 0; i < range.chunks; ++i)
      if (frames->mapped(i)) (void)frames->unmap(i, range.address(i));
  if (range.backing && !range.backing->full())
    for (std::uint64_t i = 0; i < range.chunks; ++i)
      if (range.notes[i].slot) range.backing->forget(range.notes[i].slot);
  range.backing.reset();
  (void)driver_->unreserve(range.base, range.chunks * range.chunk_bytes);
  range.base = nullptr;
  // The table stays as zeros, all cold: a stale handle finds nothing to pin.
  (void)madvise(range.table, range.table_bytes(), MADV_DONTNEED);
}

}  // namespace holdall
