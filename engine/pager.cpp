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

bool writes(Access::Kind kind) { return kind == Access::write || kind == Access::overwrite; }

// Two needs of the same chunk become the one that serves both.
Access::Kind both(Access::Kind a, Access::Kind b) {
  if (a == b) return a;
  return writes(a) || writes(b) ? Access::write : Access::read;
}

void merge(std::vector<Need>& needs) {
  if (needs.size() < 2) return;
  std::sort(needs.begin(), needs.end(), [](const Need& a, const Need& b) {
    return a.range->id != b.range->id ? a.range->id < b.range->id : a.run.first < b.run.first;
  });
  std::size_t last = 0;
  for (std::size_t i = 1; i < needs.size(); ++i) {
    Need& into = needs[last];
    const Need& from = needs[i];
    const std::uint64_t end = into.run.first + into.run.count;
    const bool overlaps = from.range == into.range && from.run.first < end;
    const bool adjoins = from.range == into.range && from.run.first == end && from.kind == into.kind;
    if (overlaps || adjoins) {
      into.run.count = std::max(end, from.run.first + from.run.count) - into.run.first;
      into.kind = both(into.kind, from.kind);
    } else {
      needs[++last] = from;
    }
  }
  needs.resize(last + 1);
}

void append_needs(const Access& access, std::vector<Need>& needs) {
  RangeState* const range = access.range;
  if (!range) throw InvalidAccess("an access names no range: reserve one first");
  if (range->dropped) throw RangeDropped(fmt::format("the range '{}' was dropped", range->name));
  if (writes(access.kind) && !range->writable)
    throw InvalidAccess(fmt::format(
        "'{}' is backed by a read-only file and can't be written: open its backing as writable",
        range->name));
  if (access.kind == Access::in_place && range->cold != Cold::host_mapped)
    throw InvalidAccess(fmt::format(
        "'{}' is not host-mapped, so an in_place access can't read its cold chunks: reserve it with "
        "cold = Cold::host_mapped, or use read",
        range->name));
  if (access.chunks) {
    if (access.chunks->size() != range->chunks)
      throw InvalidAccess(fmt::format("a set of {} chunks is none of '{}', which has {}",
                                      access.chunks->size(), range->name, range->chunks));
    for (const ChunkRun run : access.chunks->runs()) needs.push_back({range, run, access.kind});
    return;
  }
  if (access.first > range->bytes || access.bytes > range->bytes - access.first)
    throw InvalidAccess(
        fmt::format("{} bytes from byte {} on are not within '{}', which has {} bytes",
                    access.bytes, access.first, range->name, range->bytes));
  if (access.bytes == 0) return;
  const Bytes size = range->chunk_bytes;
  const Bytes end = access.first + access.bytes;
  std::uint64_t begin_chunk = access.first / size;
  std::uint64_t end_chunk = (end + size - 1) / size;
  if (access.kind == Access::overwrite) {
    // Chunks at the edges that are covered in part keep the rest of their contents.
    if (access.first % size) {
      needs.push_back({range, {begin_chunk, 1}, Access::write});
      ++begin_chunk;
    }
    if (end % size && end != range->bytes && end_chunk > begin_chunk) {
      --end_chunk;
      needs.push_back({range, {end_chunk, 1}, Access::write});
    }
  }
  if (end_chunk > begin_chunk)
    needs.push_back({range, {begin_chunk, end_chunk - begin_chunk}, access.kind});
}

}  // namespace

Pager::Device::Device(vmm::Driver& driver, int device, Bytes budget, const std::string& name)
    : index(device),
      pool(driver, {vmm::Place::device, device}, budget),
      in(driver, device),
      out(driver, device),
      policy(make_policy(name)) {
  policy->resize(budget);
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
        *driver_, i, budget_of(*driver_, i, config.memory), config.policy));
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
  if (!config.shadow.empty())
    for (auto& device : devices_)
      device->shadows = std::make_unique<Shadows>(config.shadow, device->pool.budget());
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

// ---- calls of other threads

std::vector<Need> Pager::needs_of(std::span<const Access> accesses) const {
  std::vector<Need> needs;
  for (const Access& access : accesses) append_needs(access, needs);
  merge(needs);
  return needs;
}

void Pager::check_use(const StreamUse& use) const {
  if (use.device() >= devices())
    throw InvalidAccess(fmt::format("the stream is of device {}; this engine uses {} (--devices)",
                                    use.device(), devices()));
  if (driver_->health(use.device()) != vmm::Status::ok) {
    const auto fault = driver_->fault(use.device());
    throw DriverError(vmm::Status::illegal_address,
                      fmt::format("device {} is lost: {}", use.device(),
                                  fault ? fault->what : "a kernel or copy touched an illegal address"));
  }
  bool capturing = false;
  vmm::check(driver_->is_capturing(use.stream(), capturing), "ask whether a stream is capturing");
  if (capturing)
    throw InvalidAccess(
        "a lease can't be taken on a capturing stream: launch the graph under a lease, as one kernel");
}

void Pager::order(StreamUse& use, std::span<const std::uint64_t> behind) {
  for (std::size_t d = 0; d < behind.size(); ++d)
    if (behind[d] && !devices_[d]->in.passed(behind[d]) &&
        devices_[d]->in.order(use.stream(), behind[d]) != vmm::Status::ok)
      vmm::check(devices_[d]->in.wait(behind[d]), "wait for copies in");  // here instead
}

LeaseRecord* Pager::acquire(Stream stream, std::span<const Access> accesses) {
  StreamUse& use = uses_.of(stream);
  check_use(use);
  thread_local std::vector<Need> needs;
  thread_local std::vector<std::uint64_t> behind;
  needs.clear();
  for (const Access& access : accesses) append_needs(access, needs);
  merge(needs);
  ThreadLeases& self = this_thread_leases();
  // While somebody waits for pins, only those who could stand in the way themselves go on without asking.
  if (!crowded_.load(std::memory_order_relaxed) || self.live.load(std::memory_order_relaxed) > 0) {
    behind.assign(devices_.size(), 0);
    std::size_t n = 0;
    std::uint64_t in_run = 0;
    bool all_there = true;
    const Reader& reader = readers_[static_cast<std::size_t>(use.device())];
    self.pinning.store(true, std::memory_order_relaxed);
    for (; n < needs.size() && all_there; ++n) {
      const Need& need = needs[n];
      const Where where = need.kind == Access::in_place ? Where::anywhere : Where::resident;
      for (in_run = 0; in_run < need.run.count; ++in_run) {
        Chunk& chunk = need.range->table[need.run.first + in_run];
        const ChunkWord word = try_pin(chunk, writes(need.kind), where, reader);
        all_there = word.state() != Chunk::cold;
        if (!all_there) break;
        auto& ticket = behind[static_cast<std::size_t>(word.device())];
        ticket = std::max(ticket, chunk.ready.load(std::memory_order_relaxed));
      }
    }
    if (all_there) {
      const std::uint64_t number = next_lease_.load(std::memory_order_relaxed);
      LeaseRecord* const record = use.open(self, trace_ ? next_lease_++ : number, needs);
      self.pinning.store(false, std::memory_order_release);
      const std::int64_t now = now_ns();
      bool log_is_long = false;
      for (const Need& need : needs)
        log_is_long |= log_.append({need.range, need.run, need.kind, record->number, now});
      if (log_is_long && !log_is_long_.load(std::memory_order_relaxed) && !log_is_long_.exchange(true))
        post([] {});
      try {
        order(use, behind);
      } catch (...) {
        release(record);
        throw;
      }
      return record;
    }
    for (std::size_t i = 0; i < n; ++i)
      unpin(PinnedRun{needs[i].range,
                      {needs[i].run.first, i + 1 == n ? in_run : needs[i].run.count}});
    uses_.note_unpin();
    self.pinning.store(false, std::memory_order_release);
  }
  return finish(*begin(use, needs));
}

std::shared_ptr<Pending> Pager::begin(StreamUse& use, std::vector<Need> needs) {
  auto pending = std::make_shared<Pending>();
  pending->needs = std::move(needs);
  pending->use = &use;
  pending->owner = &this_thread_leases();
  pending->posted = now_ns();
  post([&] { demands_.push_back(pending); });
  return pending;
}

LeaseRecord* Pager::finish(Pending& pending) {
  const Mark mark("holdall: wait for mappings");
  pending.waited = true;
  const std::int64_t began = now_ns();
  if (may_spin_)
    while (!pending.done && now_ns() - began < spin_ns) __builtin_ia32_pause();
  pending.done.wait(Pending::queued);
  ++stalls_;
  const std::int64_t ended = now_ns();
  stalled_ += ended - began;
  if (timeline_)
    timeline_->add("wait for mappings", "acquire",
                   pending.needs.empty() ? "" : pending.needs[0].range->name, pending.needs.size(),
                   began, ended);
  if (pending.error) std::rethrow_exception(pending.error);
  try {
    order(*pending.use, pending.behind);
  } catch (...) {
    cancel(pending);
    throw;
  }
  return pending.record;
}

void Pager::cancel(Pending& pending) noexcept {
  if (pending.done.exchange(Pending::cancelled) != Pending::served || !pending.record) return;
  if (!pending.unfilled.empty()) {
    try {
      call([&] {
        give_contents_back(pending);
        return true;
      });
    } catch (const std::exception&) {
      // Not even asked: no memory for it.
    }
  }
  release(pending.record);
}

bool Pager::arrived(const Pending& pending) {
  if (pending.done.load() != Pending::served || pending.error) return false;
  for (std::size_t d = 0; d < pending.behind.size(); ++d)
    if (pending.behind[d] && !devices_[d]->in.passed(pending.behind[d])) return false;
  return true;
}

void Pager::release(LeaseRecord* record) noexcept {
  record->use->release(record, pins_wanted_.load(std::memory_order_relaxed));
}

std::vector<Pager::PinnedPart> Pager::pin_resident(StreamUse& use, std::vector<Need>& needs, Bytes most) {
  const auto append = [](std::vector<Need>& to, const Need& need, std::uint64_t chunk) {
    if (!to.empty() && to.back().range == need.range && to.back().kind == need.kind &&
        to.back().run.first + to.back().run.count == chunk)
      ++to.back().run.count;
    else
      to.push_back({need.range, {chunk, 1}, need.kind});
  };
  std::vector<PinnedPart> parts;
  std::vector<Need> missing;
  std::vector<std::uint64_t> behind(devices_.size(), 0);
  Bytes bytes = 0;
  const Reader& reader = readers_[static_cast<std::size_t>(use.device())];
  ThreadLeases& self = this_thread_leases();
  self.pinning.store(true, std::memory_order_relaxed);
  for (const Need& need : needs) {
    const Where where = need.kind == Access::in_place ? Where::anywhere : Where::resident;
    for (std::uint64_t i = need.run.first; i < need.run.first + need.run.count; ++i) {
      Chunk& chunk = need.range->table[i];
      const ChunkWord word = try_pin(chunk, writes(need.kind), where, reader);
      if (word.state() == Chunk::cold) {
        append(missing, need, i);
        continue;
      }
      auto& ticket = behind[static_cast<std::size_t>(word.device())];
      ticket = std::max(ticket, chunk.ready.load(std::memory_order_relaxed));
      if (parts.empty() || bytes >= most) {
        parts.emplace_back();
        bytes = 0;
      }
      append(parts.back().needs, need, i);
      bytes += need.range->chunk_bytes;
    }
  }
  const std::int64_t now = now_ns();
  for (PinnedPart& part : parts) {
    part.record = use.open(self, next_lease_++, part.needs);
    for (const Need& need : part.needs)
      log_.append({need.range, need.run, need.kind, part.record->number, now});
  }
  self.pinning.store(false, std::memory_order_release);
  needs = std::move(missing);
  try {
    order(use, behind);
  } catch (...) {
    for (PinnedPart& part : parts) release(part.record);
    throw;
  }
  return parts;
}

Bytes Pager::leased() {
  Bytes bytes = 0;
  for (int device = 0; device < devices(); ++device) bytes += leased(device);
  return bytes;
}

Bytes Pager::leased(int device) {
  Bytes bytes = 0;
  uses_.each_live([&](const LeaseRecord& record) {
    if (record.use->device() != device) return;
    for (const PinnedRun& run : record.runs) bytes += run.run.count * run.range->chunk_bytes;
  });
  return bytes;
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

// ---- the loop

template <class F>
void Pager::post(F f) {
  {
    const std::scoped_lock hold(lock_);
    f();
    posted_ = true;
  }
  wake_.notify_one();
}

void Pager::call(std::function<bool()> step) {
  Task task;
  task.step = std::move(step);
  task.owner = &this_thread_leases();
  post([&] { tasks_.push_back(&task); });
  std::unique_lock hold(lock_);
  task_done_.wait(hold, [&] { return task.done; });
  if (task.error) std::rethrow_exception(task.error);
}

void Pager::run() {
  prctl(PR_SET_TIMERSLACK, 1000);  // ns; the default makes every short wait 50 us longer
  for (;;) {
    if (work()) continue;
    std::unique_lock hold(lock_);
    if (posted_) continue;
    if (stopping_) return;
    if (!parked_.empty() || !write_backs_.empty() || !asked_.empty() || over_budget_) {
      wake_.wait_for(hold, std::chrono::microseconds(20));
      continue;
    }
    if (may_spin_) {
      hold.unlock();
      const std::int64_t began = now_ns();
      while (!posted_ && now_ns() - began < spin_ns) __builtin_ia32_pause();
      hold.lock();
      if (posted_) continue;
    }
    const auto something = [&] { return posted_.load() || stopping_; };
    if (pins_wanted_) {
      if (!wake_.wait_for(hold, std::chrono::milliseconds(10), something)) pins_wanted_ = false;
    } else {
      wake_.wait(hold, something);
    }
  }
}

bool Pager::work() {
  {
    const std::scoped_lock hold(lock_);
    posted_ = false;
    asked_.insert(asked_.end(), tasks_.begin(), tasks_.end());
    tasks_.clear();
    for (auto& demand : demands_) parked_.push_back(std::move(demand));
    demands_.clear();
  }
  bool progress = finish_write_backs(false);
  // 1. what other threads asked to be done here
  std::deque<Task*> unfinished;
  for (Task* const task : asked_) {
    bool done = true;
    try {
      const std::uint64_t unpins = uses_.unpins();
      done = task->step();
      if (!done) task->failed_at = unpins;
      if (!done && endless(task->owner, unpins))
        throw WouldDeadlock(
            "this would wait for ever: leases of the calling thread, or of threads that wait "
            "themselves, pin what it needs: release them first");
    } catch (...) {
      task->error = std::current_exception();
      done = true;
    }
    if (!done) {
      unfinished.push_back(task);
      continue;
    }
    progress = true;
    task->failed_at = ~std::uint64_t{0};
    const std::scoped_lock hold(lock_);
    task->done = true;
    task_done_.notify_all();
  }
  asked_.swap(unfinished);
  // 2. demands, first come first served, but for those who hold leases: others may wait for them
  if (!parked_.empty()) {
    if (log_is_long_.exchange(false)) drain();
    std::deque<std::shared_ptr<Pending>> still;
    for (auto& pending : parked_) {
      const bool may =
          still.empty() ||
          (pending->owner->live.load() > 0 &&
           std::ranges::none_of(still, [&](const auto& p) { return p->owner == pending->owner; }));
      if (pending->done == Pending::cancelled || (may && serve(*pending)))
        progress = true;
      else
        still.push_back(std::move(pending));
    }
    parked_.swap(still);
    for (auto& pending : parked_)
      if (pending->waited && endless(pending->owner, pending->failed_at)) {
        if (!widen(*pending)) fail_endless(*pending);
        progress = true;
        break;  // the others may go on now
      }
    std::erase_if(parked_, [](const auto& p) { return p->done != Pending::queued; });
    if (!parked_.empty()) {
      bool waiting = false;
      progress |= uses_.retire(true, waiting);
    }
  }
  if (crowded_ == parked_.empty()) crowded_ = !parked_.empty();
  if (crowded_ && !pins_wanted_) pins_wanted_ = true;
  if (log_is_long_.exchange(false)) drain();
  if (over_budget_) {
    over_budget_ = false;
    try {
      for (auto& device : devices_) shrink(*device);
    } catch (const std::exception&) {
      // What could not be written back stays; the next demand tries again, and hears of it.
    }
  }
  // 3. prefetches and cleaning ahead, a little at a time
  if (parked_.empty()) {
    progress |= serve_prefetch();
    if (writes_seen_)
      for (auto& device : devices_) clean_ahead(*device);
  }
  return progress;
}

void Pager::drain() {
  log_.drain([this](const AccessLogEntry& entry) {
    note_hits({entry.range, entry.run, entry.kind}, entry.lease, entry.time);
  });
}

void Pager::note_hits(const Need& need, std::uint64_t lease, std::int64_t time) {
  const bool write = writes(need.kind);
  writes_seen_ |= write;
  const Access::Kind kind = need.kind == Access::in_place ? Access::read : need.kind;
  std::uint64_t hits = 0;
  for (std::uint64_t i = need.run.first; i < need.run.first + need.run.count; ++i) {
    ChunkNotes& notes = need.range->notes[i];
    if (!notes.home && need.kind == Access::in_place) continue;  // read where it lies
    ++hits;
    if (!notes.home) {  // left since: the log runs behind
      trace(*need.range, i, 0, kind, 0, lease, time);
      continue;
    }
    notes.next_victim = false;
    Device& device = device_at(notes.home - 1);
    const Request request{need.range->chunk_bytes, write, false, schedule_.use(key(*need.range, i))};
    device.policy->accessed(key(*need.range, i), request);
    if (device.shadows) show_shadows(device, key(*need.range, i), request);
    trace(*need.range, i, notes.home - 1, kind, 0, lease, time, request.next_use);
  }
  need.range->counters.hits += hits;
}

void Pager::show_shadows(Device& device, Key chunk, const Request& request) {
  device.shadows->request(chunk, request, [this](Key other) {
    const Resident at = chunk_of(other);
    return ChunkWord::of(at.range->table[at.chunk]).pins() == 0;
  });
}

void Pager::trace(const RangeState& range, std::uint64_t chunk, int device, std::uint8_t kind,
                  std::uint8_t outcome, std::uint64_t lease, std::int64_t time,
                  std::uint64_t next_use) {
  if (!trace_) return;
  trace_->append({static_cast<std::uint64_t>(time), chunk, range.chunk_bytes, lease, next_use,
                  range.id, static_cast<std::uint16_t>(device), kind, outcome});
}

// Whether what found no room, `failed_at` that many unpins, never will: no pin has gone since, none
// is about to go, and all leases left are those of threads that wait in the same way.
//
// A lease moves from being pinned for, to live, to released, to unpinned; each is looked for after the one before it, so that
// none slips by.
bool Pager::endless(const ThreadLeases* owner, std::uint64_t failed_at) {
  if (!write_backs_.empty() || any_thread_pins()) return false;
  bool somebody = false;
  uses_.each_live([&](const LeaseRecord& record) {
    const ThreadLeases* const holder = record.owner;
    const auto waits = [&](const auto& waiter) {
      return waiter->owner == holder && waiter->failed_at == failed_at;
    };
    somebody |=
        holder != owner && std::ranges::none_of(asked_, waits) &&
        std::ranges::none_of(parked_, [&](const auto& p) { return p && p->waited && waits(p); });
  });
  bool waiting = false;
  return !somebody && !uses_.retire(true, waiting) && !waiting && uses_.unpins() == failed_at;
}

// Where a driver without memory shrank budgets: back to what was asked for, since it may have some
// now; once for a demand.
bool Pager::widen(Pending& pending) {
  if (std::exchange(pending.widened, true)) return false;
  bool any = false;
  for (auto& device : devices_) any |= device->pool.widen();
  return any;
}

// The budget that a lease on `device` can use.
Bytes Pager::within_reach(int device) const {
  Bytes bytes = device_at(device).pool.budget();
  for (const int peer : device_at(device).peers) bytes += device_at(peer).pool.budget();
  return bytes;
}

// What `pending` needs will never fit.
void Pager::throw_too_large(const Pending& pending) {
  Bytes needed = 0;
  for (const Need& need : pending.needs)
    if (need.kind != Access::in_place) needed += need.run.count * need.range->chunk_bytes;
  const Bytes budget = within_reach(pending.use->device());
  const FramePool& pool = device_at(pending.use->device()).pool;
  if (pool.budget() < pool.asked())
    throw DriverError(
        vmm::Status::out_of_memory,
        fmt::format("the chunks of this lease need {}; of its budget of {} device {} gives no "
                    "more than {}: lower the memory budget (--memory), or end what else uses it",
                    to_string(needed), to_string(pool.asked()), pending.use->device(),
                    to_string(pool.budget())));
  throw WorkingSetTooLarge(fmt::format("the chunks of this lease need {}, which does not fit into "
                                       "the memory budget of {}: raise "
                                       "it (--memory), lease less at once, or use passes",
                                       to_string(needed), to_string(budget)),
                           needed, budget);
}

void Pager::fail_endless(Pending& pending) {
  try {
    const Bytes held = leased();
    if (held == 0) throw_too_large(pending);
    Bytes needed = 0;
    for (const Need& need : pending.needs) needed += need.run.count * need.range->chunk_bytes;
    throw WouldDeadlock(fmt::format(
        "this lease needs {}, and {} are pinned by leases of this thread, or of threads that wait "
        "themselves, with a budget of {}: release one first, lease all at once, or raise the "
        "budget "
        "(--memory)",
        to_string(needed), to_string(held), to_string(within_reach(pending.use->device()))));
  } catch (...) {
    pending.error = std::current_exception();
  }
  complete(pending);
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
  // 2. it goes
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
