// A demand, from pins to copies.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/error.hpp"
#include "engine/host_frames.hpp"
#include "engine/mark.hpp"
#include "engine/pager.hpp"

namespace holdall {

namespace {

// The driver has less memory than the budget says, and nobody to evict for it now.
struct ShortOfMemory {};

}  // namespace

// Serves a demand; true: it is complete, well or with an error. False: it waits for pins, and holds nothing.
bool Pager::serve(Pending& pending) {
  const Mark mark("holdall: serve a lease");
  std::vector<PinnedRun> pinned;
  std::vector<Incoming> incoming;
  std::vector<Need> hits;
  const std::int64_t began = now_ns();
  const auto let_go = [&] {
    for (const PinnedRun& run : pinned) unpin(run);
    for (const Incoming& in : incoming)
      if (ChunkWord::of(in.range->table[in.chunk]).state() == Chunk::leaving) back_to_host(in);
  };
  try {
    // 1. pin what is there, list what is missing
    drain();
    pending.failed_at = uses_.unpins();
    const int device = pending.use->device();
    Bytes needed = 0;
    for (const Need& need : pending.needs)
      if (need.kind != Access::in_place) needed += need.run.count * need.range->chunk_bytes;
    if (needed > within_reach(device) && !widen(pending)) throw_too_large(pending);
    // Other devices' chunks leave only for what waiting would not help: their own work wants them.
    pending.everywhere = devices() == 1 || needed > device_at(device).pool.budget() ||
                         (pending.waited && !uses_.in_flight(device));
    if (!leave_out_of_reach(pending.needs, device)) return false;
    share(pending.needs, device);
    const Reader& reader = readers_[static_cast<std::size_t>(device)];
    pending.behind.assign(devices_.size(), 0);
    for (const Need& need : pending.needs) {
      if (need.range->dropped)
        throw RangeDropped(fmt::format("the range '{}' was dropped", need.range->name));
      const Where where = need.kind == Access::in_place ? Where::anywhere : Where::resident;
      for (std::uint64_t i = need.run.first; i < need.run.first + need.run.count; ++i) {
        Chunk& chunk = need.range->table[i];
        ChunkWord word = try_pin(chunk, writes(need.kind), where, reader);
        if (word.state() == Chunk::cold && need.kind == Access::in_place &&
            ChunkWord::of(chunk).state() == Chunk::cold) {
          map_host_frame(*need.range, i);
          word = try_pin(chunk, false, where, reader);
        }
        if (word.state() != Chunk::cold) {
          auto& ticket = pending.behind[static_cast<std::size_t>(word.device())];
          ticket = std::max(ticket, chunk.ready.load());
          if (pinned.empty() || pinned.back().range != need.range ||
              pinned.back().run.first + pinned.back().run.count != i) {
            pinned.push_back({need.range, {i, 1}});
            hits.push_back({need.range, {i, 1}, need.kind});
          } else {
            ++pinned.back().run.count;
            if (hits.back().kind == need.kind)
              ++hits.back().run.count;
            else
              hits.push_back({need.range, {i, 1}, need.kind});
          }
          continue;
        }
        Incoming in;
        in.range = need.range;
        in.chunk = i;
        in.kind = need.kind;
        switch (ChunkWord::of(chunk).state()) {
          case Chunk::poisoned:
            throw ChunkPoisoned(fmt::format("chunk {} of '{}' can't be used since a mapping call failed "
                                            "twice on it; drop the range and reserve it again",
                                            i, need.range->name));
          case Chunk::host_mapped:
            if (!try_mark_leaving(chunk, false)) {  // read in place right now
              let_go();
              return false;
            }
            in.was_host_mapped = true;
            break;
          default: break;
        }
        incoming.push_back(in);
      }
    }
    // 2. bring the missing ones in
    if (!incoming.empty() && !bring_in(incoming, device, pending.everywhere)) {
      let_go();
      return false;
    }
  } catch (...) {
    let_go();
    pending.error = std::current_exception();
    complete(pending);
    return true;
  }
  // 3. pin them too, and tell
  const std::uint64_t lease = next_lease_++;
  for (const Need& hit : hits) note_hits(hit, lease, began);
  for (const Incoming& in : incoming) {
    settle(in, 1, lease, false);
    if (in.kind == Access::overwrite) pending.unfilled.push_back({in.range, {in.chunk, 1}});
    auto& ticket = pending.behind[static_cast<std::size_t>(in.device)];
    ticket = std::max(ticket, in.ready);
  }
  pending.record = pending.use->open(*pending.owner, lease, pending.needs);
  if (timeline_)
    timeline_->add("serve", "pager", pending.needs.empty() ? "" : pending.needs[0].range->name,
                   incoming.size(), began, now_ns());
  read_ahead(incoming, pending.use->device());
  complete(pending);
  return true;
}

void Pager::complete(Pending& pending) {
  int queued = Pending::queued;
  if (!pending.done.compare_exchange_strong(queued, Pending::served)) {
    if (!pending.record) return;  // cancelled meanwhile
    give_contents_back(pending);
    release(pending.record);
    return;
  }
  pending.done.notify_all();
}

// What was brought in to be overwritten, and will not be, has its old contents again; its lease has
// not ended yet.
void Pager::give_contents_back(const Pending& pending) noexcept {
  for (const PinnedRun& one : pending.unfilled) try {
      Incoming in;
      in.range = one.range;
      in.chunk = one.run.first;
      in.device = one.range->notes[in.chunk].home - 1;
      fill(std::span(&in, 1));
      one.range->table[in.chunk].ready = in.ready;
      (void)device_at(in.device).in.wait(in.ready);
    } catch (const std::exception&) {
      // Its backing can't be read; nothing is left to give it.
    }
}

// Takes chunks of `needs` from devices that `device` does not reach. False: one is pinned there.
bool Pager::leave_out_of_reach(std::span<const Need> needs, int device) {
  if (all_reach_) return true;
  bool waiting = false;
  uses_.retire(true, waiting);
  std::vector<Victim> victims;
  bool free = true;
  for (const Need& need : needs)
    for (std::uint64_t i = need.run.first; i < need.run.first + need.run.count && free; ++i) {
      const int home = need.range->notes[i].home - 1;
      if (home < 0 || reaches(device, home)) continue;
      while (need.range->notes[i].cleaning) finish_write_back(true);
      free = try_mark_leaving(need.range->table[i], false);
      if (!free) break;
      device_at(home).policy->removed(key(*need.range, i), Left::evicted);
      Victim& victim = victims.emplace_back();
      victim.range = need.range;
      victim.chunk = i;
      victim.device = home;
    }
  if (!free) {
    pins_wanted_ = true;
    for (const Victim& victim : victims) take_back(victim);
    return false;
  }
  try {
    write_back(victims);
  } catch (...) {
    for (const Victim& victim : victims) take_back(victim);
    throw;
  }
  leave(victims);
  for (Victim& victim : victims) drop_frame(victim);
  return true;
}

// Grants `device` those chunks of `needs` that are resident on others, neighbours together.
void Pager::share(std::span<const Need> needs, int device) {
  if (devices() == 1) return;
  for (const Need& need : needs) {
    RangeState& range = *need.range;
    const auto home_to_share = [&](std::uint64_t i) {  // none: -1
      const int home = range.notes[i].home - 1;
      return home != device && !ChunkWord::of(range.table[i]).shared() ? home : -1;
    };
    const std::uint64_t end = need.run.first + need.run.count;
    for (std::uint64_t i = need.run.first, next = i; i < end; i = next) {
      const int home = home_to_share(i);
      for (next = i + 1; next < end && home >= 0 && config_.coalesce && home_to_share(next) == home;) ++next;
      if (home < 0) continue;
      const vmm::Status status = mapper_.set_access(range.address(i), (next - i) * range.chunk_bytes,
                                                    {vmm::Place::device, home}, true);
      if (status != vmm::Status::ok)
        throw DriverError(status, fmt::format("cannot grant device {} access to chunk {} of '{}' on device {}: {}",
                                              device, i, range.name, home, vmm::to_string(status)));
      for (; i < next; ++i) mark_shared(range.table[i]);
    }
  }
}

void Pager::read_ahead(std::span<const Incoming> incoming, int device) {
  for (std::size_t i = 0; i < incoming.size(); ++i) {
    const Incoming& in = incoming[i];
    const std::uint64_t ahead = in.range->read_ahead;
    const bool last = i + 1 == incoming.size() || incoming[i + 1].range != in.range;
    if (!ahead || !last || in.chunk + 1 >= in.range->chunks) continue;
    const std::uint64_t count = std::min(ahead, in.range->chunks - in.chunk - 1);
    const std::scoped_lock hold(lock_);
    prefetches_.push_back({device, {in.range, {in.chunk + 1, count}, Access::read}});
    posted_ = true;
  }
}

// Puts what the prefetcher of `device` wants behind a request for `chunk` among the prefetches.
void Pager::ask_prefetcher(const RangeState& range, std::uint64_t chunk, int device, bool resident) {
  wanted_.clear();
  device_at(device).prefetch->requested(key(range, chunk), keys(range), resident, wanted_);
  if (wanted_.empty()) return;
  constexpr std::size_t most = 256;  // behind so many it would come too late
  const std::scoped_lock hold(lock_);
  if (prefetches_.size() >= most) return;
  for (const Key wanted : wanted_) {
    const Resident at = chunk_of(wanted);
    if (at.range->notes[at.chunk].home) continue;
    Need* const last = prefetches_.empty() ? nullptr : &prefetches_.back().need;
    if (last && last->range == at.range && last->run.first + last->run.count == at.chunk &&
        prefetches_.back().device == device)
      ++last->run.count;
    else
      prefetches_.push_back({device, {at.range, {at.chunk, 1}, Access::read}});
  }
  posted_ = true;
}

// Brings a slice of the oldest prefetch in; drops it where there is no room without waiting. Whether there was one.
bool Pager::serve_prefetch() {
  Prefetch prefetch;
  {
    const std::scoped_lock hold(lock_);
    if (prefetches_.empty()) return false;
    Prefetch& first = prefetches_.front();
    prefetch = first;
    prefetch.need.run.count = std::min<std::uint64_t>(first.need.run.count, slice);
    first.need.run.first += prefetch.need.run.count;
    first.need.run.count -= prefetch.need.run.count;
    if (first.need.run.count == 0) prefetches_.pop_front();
  }
  RangeState& range = *prefetch.need.range;
  if (range.dropped || prefetch.device < 0 || prefetch.device >= devices()) return true;
  drain();
  std::vector<Resident> chunks;
  for (std::uint64_t i = 0; i < prefetch.need.run.count; ++i)
    chunks.push_back({&range, prefetch.need.run.first + i});
  bring_ahead(chunks, prefetch.device);
  return true;
}

// Brings in those of `chunks` that are not resident, if there is room for them without waiting.
void Pager::bring_ahead(std::span<const Resident> chunks, int device) {
  std::vector<Incoming> incoming;
  for (const Resident& at : chunks) {
    Chunk& chunk = at.range->table[at.chunk];
    Incoming in;
    in.range = at.range;
    in.chunk = at.chunk;
    in.ahead = true;
    const Chunk::State state = ChunkWord::of(chunk).state();
    if (state == Chunk::host_mapped && try_mark_leaving(chunk, false))
      in.was_host_mapped = true;
    else if (state != Chunk::cold)
      continue;
    incoming.push_back(in);
  }
  bool brought = false;
  try {
    brought = incoming.empty() || bring_in(incoming, device, false);
  } catch (const std::exception&) {
    // Whoever needs them hears of it.
  }
  for (const Incoming& in : incoming)
    if (brought)
      settle(in, 0, 0, true);
    else if (ChunkWord::of(in.range->table[in.chunk]).state() == Chunk::leaving)
      back_to_host(in);
}

// Finds frames for all of `incoming`, maps them and starts their copies; nothing is published yet. False: there are not
// enough victims now, and nothing has changed. On a throw nothing is left half done.
bool Pager::bring_in(std::vector<Incoming>& incoming, int device, bool everywhere) {
  std::vector<Victim> victims;
  if (!take_places(incoming, device, everywhere, victims)) return false;
  std::size_t left = 0;     // victims that have left
  std::size_t brought = 0;  // incoming that are mapped and on their way
  // Earlier slices leave again, and their victims come back; with `keep` they stay, unless they were never filled.
  const auto give_up = [&](bool keep) {
    for (std::size_t i = left; i < victims.size(); ++i) take_back(victims[i]);
    for (std::size_t i = 0; i < brought; ++i) {
      Incoming& in = incoming[i];
      if (keep && in.kind != Access::overwrite)
        settle(in, 0, 0, true);
      else if (unmap_incoming(in))
        device_at(in.device).pool.give(in.range->chunk_bytes, in.frame);
    }
    for (int d = 0; !keep && d < devices(); ++d) {
      std::vector<Resident> gone;
      for (std::size_t i = 0; i < left; ++i)
        if (victims[i].device == d && !victims[i].range->notes[victims[i].chunk].home)
          gone.push_back({victims[i].range, victims[i].chunk});
      bring_ahead(gone, d);
    }
  };
  try {
    write_back(victims);
    while (brought < incoming.size()) {
      const std::size_t n = std::min(slice, incoming.size() - brought);
      const std::size_t end = incoming[brought + n - 1].victims_before;
      const std::span<Victim> leaving(victims.data() + left, end - left);
      left = end;
      bring_slice(std::span(incoming).subspan(brought, n), leaving);
      brought += n;
    }
  } catch (const ShortOfMemory&) {
    give_up(true);
    return false;  // tried again within the budget that there is
  } catch (...) {
    give_up(false);
    throw;
  }
  return true;
}

// Chooses who leaves for whom, marked as leaving; false: too few can, and none is marked any more. `everywhere`: other
// devices' chunks may leave too, where no more of the device's own can.
bool Pager::take_places(std::vector<Incoming>& incoming, int device, bool everywhere, std::vector<Victim>& victims) {
  std::vector<std::int64_t> taken(devices_.size(), 0);  // bytes; less those that leave
  bool retired = false;
  const auto fits = [&](int d, Bytes bytes) {
    const FramePool& pool = device_at(d).pool;
    return static_cast<std::int64_t>(pool.in_use()) + taken[static_cast<std::size_t>(d)] +
               static_cast<std::int64_t>(bytes) <=
           static_cast<std::int64_t>(pool.budget());
  };
  const auto make_room = [&](int d, Bytes bytes) {
    if (!std::exchange(retired, true)) {
      pins_wanted_ = true;
      bool waiting = false;
      uses_.retire(true, waiting);
    }
    while (!fits(d, bytes)) {
      std::optional<Victim> victim = choose_victim(d);
      if (!victim) return false;
      const Bytes freed = victim->range->chunk_bytes;
      taken[static_cast<std::size_t>(d)] -= static_cast<std::int64_t>(freed);
      for (const int peer : device_at(d).peers)
        if (fits(peer, freed)) {
          victim->to_peer = peer;
          taken[static_cast<std::size_t>(peer)] += static_cast<std::int64_t>(freed);
          break;
        }
      victims.push_back(*victim);
    }
    return true;
  };
  for (Incoming& in : incoming) {
    const Bytes bytes = in.range->chunk_bytes;
    const std::vector<int>& peers = device_at(device).peers;
    in.device = device;
    (void)device_at(device).policy->admit(
        key(*in.range, in.chunk), {bytes, writes(in.kind), in.ahead, Request::never});
    if (!fits(device, bytes) && !make_room(device, bytes)) {
      const auto peer = std::ranges::find_if(peers, [&](int p) { return fits(p, bytes) || (everywhere && make_room(p, bytes)); });
      if (peer == peers.end()) {
        // They are the first to go next time.
        for (auto victim = victims.rbegin(); victim != victims.rend(); ++victim) {
          take_back(*victim);
          victim->range->notes[victim->chunk].next_victim = true;
          device_at(victim->device).next_victims.push_front({victim->range, victim->chunk});
        }
        return false;
      }
      in.device = *peer;
      in.shared = true;
    }
    taken[static_cast<std::size_t>(in.device)] += static_cast<std::int64_t>(bytes);
    in.victims_before = victims.size();
  }
  return true;
}

// One slice: its victims leave, its chunks are mapped into their frames, the copies start.
void Pager::bring_slice(std::span<Incoming> incoming, std::span<Victim> victims) {
  // 1. victims leave
  leave(victims);
  const Mark mark("holdall: map");
  std::size_t mapped = 0;
  vmm::Status status = vmm::Status::ok;
  const char* doing = "get frames for";
  try {
    // 2. frames: a victim's of the same size, or the pool's
    for (Incoming& in : incoming) {
      const auto same = std::ranges::find_if(victims, [&](const Victim& v) {
        return static_cast<std::uint64_t>(v.frame) && !v.reused && v.device == in.device &&
               v.range->chunk_bytes == in.range->chunk_bytes;
      });
      if (same != victims.end()) {
        in.frame = same->frame;
        in.owner = &*same;
        same->reused = true;
        continue;
      }
      status = device_at(in.device).pool.take(in.range->chunk_bytes, in.frame);
      if (status == vmm::Status::out_of_memory) {
        // Frames of another size are in the way, or the device has less than the budget says.
        for (Victim& victim : victims)
          if (!victim.reused) drop_frame(victim);
        status = device_at(in.device).pool.take(in.range->chunk_bytes, in.frame);
        if (status == vmm::Status::out_of_memory) status = take_by_force(in);
        if (status == vmm::Status::out_of_memory) throw ShortOfMemory();
      }
      if (status != vmm::Status::ok) break;
    }
    // 3. map, grant access
    while (mapped < incoming.size() && status == vmm::Status::ok) {
      Incoming& in = incoming[mapped];
      std::byte* const at = in.range->address(in.chunk);
      doing = "map";
      if (in.was_host_mapped)
        status = static_cast<HostFrames&>(*in.range->backing).unmap(in.chunk, at);
      if (status == vmm::Status::ok) status = mapper_.map(at, in.range->chunk_bytes, in.frame);
      if (status == vmm::Status::ok) {
        ++mapped;
        doing = "grant access to";
        status = grant_access(incoming.first(mapped), mapped == incoming.size());
      }
    }
    if (status != vmm::Status::ok)
      throw DriverError(status, fmt::format("cannot {} chunk {} of '{}': {}{}", doing,
                                            incoming[std::min(mapped, incoming.size() - 1)].chunk,
                                            incoming[0].range->name, vmm::to_string(status),
                                            status == vmm::Status::out_of_memory
                                                ? "; lower the memory budget (--memory)"
                                                : ""));
  } catch (...) {
    undo(incoming, mapped, victims, true);
    throw;
  }
  // 4. contents
  try {
    fill(incoming);
  } catch (...) {
    undo(incoming, mapped, victims, false);
    throw;
  }
  for (Victim& victim : victims)
    if (!victim.reused) drop_frame(victim);
}

// Access is granted once a run of neighbours on one device ends: at the last of `mapped`, or when there is no more.
vmm::Status Pager::grant_access(std::span<Incoming> mapped, bool no_more) {
  const auto grant = [&](std::size_t first, std::size_t count) {
    const Incoming& in = mapped[first];
    return mapper_.set_access(in.range->address(in.chunk), count * in.range->chunk_bytes,
                              {vmm::Place::device, in.device}, in.shared);
  };
  const auto adjoin = [&](const Incoming& a, const Incoming& b) {
    return config_.coalesce && a.range == b.range && a.chunk + 1 == b.chunk && a.device == b.device;
  };
  std::size_t first = 0;
  while (first < mapped.size() && mapped[first].granted) ++first;
  // All that is not granted forms one run, but for the last, which may begin the next.
  const std::size_t last = mapped.size() - 1;
  if (first < last && !adjoin(mapped[last - 1], mapped[last])) {
    if (const vmm::Status status = grant(first, last - first); status != vmm::Status::ok) return status;
    for (; first < last; ++first) mapped[first].granted = true;
  }
  if (!no_more) return vmm::Status::ok;
  const vmm::Status status = grant(first, last + 1 - first);
  for (; status == vmm::Status::ok && first <= last; ++first) mapped[first].granted = true;
  return status;
}

// The device had no memory where the budget said that it had: one more victim gives its frame.
vmm::Status Pager::take_by_force(Incoming& in) {
  Device& device = device_at(in.device);
  while (std::optional<Victim> victim = choose_victim(in.device)) {
    try {
      write_back(std::span(&*victim, 1));
    } catch (...) {
      take_back(*victim);
      throw;
    }
    leave(std::span(&*victim, 1));
    drop_frame(*victim);
    if (const vmm::Status status = device.pool.take(in.range->chunk_bytes, in.frame);
        status != vmm::Status::out_of_memory)
      return status;
  }
  return vmm::Status::out_of_memory;
}

// A mapped chunk that nobody has seen goes back to being cold, or host-mapped. False: its mapping is in doubt, and its frame
// with it.
bool Pager::unmap_incoming(Incoming& in) {
  (void)device_at(in.device).in.wait(in.ready);
  if (mapper_.unmap(in.range->address(in.chunk), in.range->chunk_bytes) != vmm::Status::ok) {
    poison(*in.range, in.chunk, in.device, in.frame);
    return false;
  }
  back_to_host(in);
  return true;
}

void Pager::back_to_host(const Incoming& in) {
  Chunk& chunk = in.range->table[in.chunk];
  if (in.was_host_mapped && static_cast<HostFrames&>(*in.range->backing).mapped(in.chunk))
    return publish(chunk, Chunk::host_mapped, 0, 0, false);
  publish(chunk, Chunk::cold, 0, 0, false);
  if (!in.was_host_mapped) return;
  try {
    map_host_frame(*in.range, in.chunk);
  } catch (const DriverError&) {
    // Stays cold; the next access in place tries again.
  }
}

// Takes a slice back: the first `mapped` of `incoming` are unmapped, frames go back, and, while their contents are still
// there, so do the victims.
void Pager::undo(std::span<Incoming> incoming, std::size_t mapped, std::span<Victim> victims,
                 bool restore_victims) {
  for (std::size_t i = 0; i < incoming.size(); ++i) {
    Incoming& in = incoming[i];
    if (!restore_victims)  // copies may have been started
      (void)device_at(in.device).in.submit(in.ready);
    const bool in_doubt = i < mapped && !unmap_incoming(in);
    if (i >= mapped) back_to_host(in);
    if (in.owner) {
      if (in_doubt) in.owner->frame = {};
    } else if (!in_doubt && static_cast<std::uint64_t>(in.frame)) {
      device_at(in.device).pool.give(in.range->chunk_bytes, in.frame);
    }
    in.frame = {};
  }
  for (Victim& victim : victims)
    if (static_cast<std::uint64_t>(victim.frame) && restore_victims && victim.to_peer < 0)
      restore(victim);
    else
      drop_frame(victim);
}

// A chunk that was brought in becomes resident, for all to see.
void Pager::settle(const Incoming& in, std::uint64_t pins, std::uint64_t lease, bool prefetched) {
  Chunk& chunk = in.range->table[in.chunk];
  const bool dirty = pins && writes(in.kind);
  writes_seen_ |= dirty;
  in.range->notes[in.chunk].frame = in.frame;
  in.range->notes[in.chunk].next_victim = false;
  chunk.ready = in.ready;
  add_resident(*in.range, in.chunk, in.device);
  Device& device = device_at(in.device);
  const Request request{in.range->chunk_bytes, dirty, prefetched,
                        prefetched ? Request::never : schedule_.use(key(*in.range, in.chunk))};
  device.policy->inserted(key(*in.range, in.chunk), request);
  if (device.prefetch && !prefetched) ask_prefetcher(*in.range, in.chunk, in.device, false);
  if (device.shadows) show_shadows(device, key(*in.range, in.chunk), request);
  ++(prefetched ? in.range->counters.prefetched : in.range->counters.faults);
  in.range->counters.bytes_in += in.copied;
  trace(*in.range, in.chunk, in.device,
        prefetched ? std::uint8_t{trace_prefetch} : static_cast<std::uint8_t>(in.kind), 1, lease,
        now_ns(), request.next_use);
  publish(chunk, Chunk::resident, in.device, pins, dirty, in.shared);
}

}  // namespace holdall
