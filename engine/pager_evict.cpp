// Victims: chosen, written back where dirty, unmapped.
#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include "engine/error.hpp"
#include "engine/host_frames.hpp"
#include "engine/mark.hpp"
#include "engine/pager.hpp"

namespace holdall {

void Pager::add_resident(RangeState& range, std::uint64_t chunk, int device) {
  Device& d = device_at(device);
  range.notes[chunk].place = static_cast<std::uint32_t>(d.resident.size());
  range.notes[chunk].home = static_cast<std::uint8_t>(device + 1);
  d.resident.push_back({&range, chunk});
  d.resident_bytes += range.chunk_bytes;
  range.counters.resident += range.chunk_bytes;
  if (d.prefetch) d.prefetch->inserted(key(range, chunk), keys(range));
}

void Pager::remove_resident(RangeState& range, std::uint64_t chunk, int device) {
  Device& d = device_at(device);
  const std::uint32_t place = range.notes[chunk].place;
  range.notes[chunk].home = 0;
  d.resident[place] = d.resident.back();
  d.resident[place].range->notes[d.resident[place].chunk].place = place;
  d.resident.pop_back();
  d.resident_bytes -= range.chunk_bytes;
  range.counters.resident -= range.chunk_bytes;
  if (d.prefetch) d.prefetch->removed(key(range, chunk), keys(range));
}

// The chunk is `leaving` afterwards, and gone from the policy.
std::optional<Pager::Victim> Pager::choose_victim(int device) {
  Device& d = device_at(device);
  for (bool even_kept = false;;) {
    std::optional<Resident> found;
    while (!d.next_victims.empty() && !found) {
      const Resident at = d.next_victims.front();
      ChunkNotes& notes = at.range->notes[at.chunk];
      const bool good = notes.next_victim && notes.home == device + 1;
      if (good && ChunkWord::of(at.range->table[at.chunk]).pins() == 0) found = at;
      notes.next_victim = false;
      d.next_victims.pop_front();
    }
    if (!found) {
      const auto may = [&](Key key) {
        const Resident at = chunk_of(key);
        const ChunkWord word = ChunkWord::of(at.range->table[at.chunk]);
        return word.state() == Chunk::resident && word.pins() == 0 &&
               (even_kept || !at.range->notes[at.chunk].keep);
      };
      const std::optional<Key> key = d.policy->victim(may);
      if (key) found = chunk_of(*key);
    }
    if (!found) {
      if (even_kept) return std::nullopt;
      even_kept = true;
      continue;
    }
    Chunk& chunk = found->range->table[found->chunk];
    while (found->range->notes[found->chunk].cleaning) finish_write_back(true);
    if (!try_mark_leaving(chunk, false)) continue;  // pinned in between
    d.policy->removed(key(*found->range, found->chunk), Left::evicted);
    Victim victim;
    victim.range = found->range;
    victim.chunk = found->chunk;
    victim.device = device;
    return victim;
  }
}

// The victim stays after all.
void Pager::take_back(const Victim& victim) {
  if (victim.ticket) (void)device_at(victim.device).out.wait(victim.ticket);
  Chunk& chunk = victim.range->table[victim.chunk];
  const ChunkWord word = ChunkWord::of(chunk);
  publish(chunk, Chunk::resident, word.device(), 0, word.dirty(), word.shared());
  tell_back(*victim.range, victim.chunk, word.device(), word.dirty());
}

// The policy hears of a chunk that is resident again, or on another device, though nobody asked for it.
void Pager::tell_back(const RangeState& range, std::uint64_t chunk, int device, bool dirty) {
  trace(range, chunk, device, trace_back, dirty, 0, now_ns());
  device_at(device).policy->inserted(key(range, chunk),
                                     {range.chunk_bytes, dirty, false, Request::never});
}

// Starts to copy chunks to their backings, their dirty marks taken off before; a `ticket` of 0 says that it is done already.
// On a throw all of them are dirty again, and no copy runs.
//
// A ticket a chunk: with both copy engines at work a set-access call waits until one of them has nothing queued (an H200
// updates page tables through one), so each chunk is to become a victim as soon as it can.
void Pager::copy_out(std::span<WriteBack> chunks) {
  try {
    for (WriteBack& out : chunks) {
      RangeState& range = *out.range;
      CopyQueue& queue = device_at(out.device).out;
      const Bytes bytes = range.stored_bytes(out.chunk);
      const std::byte* from = range.address(out.chunk);
      // A copy in that has not ended would race with the copy out.
      vmm::check(device_at(out.device).in.wait(range.table[out.chunk].ready), "wait for a copy in");
      const auto copy = [&](std::byte* to, std::uint64_t& ticket) {
        vmm::check(driver_->copy(to, from, bytes, queue.stream()),
                   fmt::format("copy chunk {} of '{}' out", out.chunk, range.name));
        vmm::check(queue.submit(ticket), "submit a copy out");
      };
      if (std::byte* const to = range.backing->address(out.chunk, range.notes[out.chunk].slot, true)) {
        copy(to, out.ticket);
        continue;
      }
      // A file: straight from the frame where the CPU reaches it, else through pinned memory.
      if (!driver_->cpu_reaches_device()) {
        std::byte* const through = next_slot(staging(range.chunk_bytes));
        std::uint64_t copied = 0;
        copy(through, copied);
        vmm::check(queue.wait(copied), "wait for a copy out");
        from = through;
      }
      range.backing->write(out.chunk * range.chunk_bytes, {from, bytes});
    }
  } catch (...) {
    for (const WriteBack& out : chunks) {
      CopyQueue& queue = device_at(out.device).out;
      std::uint64_t ticket = 0;
      if (queue.submit(ticket) == vmm::Status::ok) (void)queue.wait(ticket);
      mark_dirty(out.range->table[out.chunk]);
    }
    throw;
  }
}

void Pager::note_write_back(RangeState& range, std::uint64_t chunk) {
  range.notes[chunk].stored = true;
  ++range.counters.write_backs;
  range.counters.bytes_out += range.stored_bytes(chunk);
}

// Writes those of `chunks` back that are dirty and that nobody pins, while they stay.
void Pager::start_write_backs(std::span<const Resident> chunks) {
  std::vector<WriteBack> outs;
  const std::int64_t now = now_ns();
  for (const Resident& at : chunks)
    if (!at.range->notes[at.chunk].cleaning && try_take_dirty(at.range->table[at.chunk]))
      outs.push_back({at.range, at.chunk, at.range->notes[at.chunk].home - 1, 0, now});
  if (outs.empty()) return;
  copy_out(outs);
  for (const WriteBack& out : outs)
    if (out.ticket) {
      out.range->notes[out.chunk].cleaning = true;
      write_backs_.push_back(out);
    } else {
      note_write_back(*out.range, out.chunk);
    }
}

// Settles the oldest write-back; `wait`: even if it has not ended. False: there is none to settle.
bool Pager::finish_write_back(bool wait) {
  if (write_backs_.empty()) return false;
  const WriteBack first = write_backs_.front();
  CopyQueue& queue = device_at(first.device).out;
  vmm::Status status = vmm::Status::ok;
  if (wait)
    status = queue.wait(first.ticket);
  else if (!queue.passed(first.ticket) && (status = driver_->health(first.device)) == vmm::Status::ok)
    return false;
  write_backs_.pop_front();
  first.range->notes[first.chunk].cleaning = false;
  if (status == vmm::Status::ok) {
    note_write_back(*first.range, first.chunk);
  } else {
    mark_dirty(first.range->table[first.chunk]);
    first.range->write_back_error = status;
  }
  if (timeline_)
    timeline_->add("copy out", fmt::format("copy out {}", first.device), first.range->name, 1, first.began,
                   now_ns());
  return true;
}

// Settles all that have ended, or simply all. Whether there were any.
bool Pager::finish_write_backs(bool wait) {
  bool any = false;
  while (finish_write_back(wait)) any = true;
  return any;
}

// Copies the dirty ones among leaving chunks to their backings; their tickets say when that has ended. On a throw the
// victims are as they were.
void Pager::write_back(std::span<Victim> victims) {
  std::vector<WriteBack> outs;
  std::vector<Victim*> written;
  for (Victim& victim : victims) {
    const ChunkWord word = ChunkWord::of(victim.range->table[victim.chunk]);
    if (!word.dirty() || victim.discard || victim.to_peer >= 0) continue;
    outs.push_back({victim.range, victim.chunk, victim.device, 0, 0});
    written.push_back(&victim);
  }
  if (outs.empty()) return;
  copy_out(outs);
  for (std::size_t i = 0; i < outs.size(); ++i) {
    written[i]->ticket = outs[i].ticket;
    written[i]->written = true;
  }
}

void Pager::map_host_frame(RangeState& range, std::uint64_t index) {
  auto& frames = static_cast<HostFrames&>(*range.backing);
  const vmm::Status status = frames.map(index, range.address(index));
  if (status != vmm::Status::ok)
    throw DriverError(status, fmt::format("cannot map the host frame of chunk {} of '{}': {}", index,
                                          range.name, vmm::to_string(status)));
  publish(range.table[index], Chunk::host_mapped, 0, 0, false);
}

// The one function that unmaps chunks: takes the frames of leaving chunks, which nobody pins, and puts them into the
// victims. On a throw, those that are still mapped are resident again and have no frame in `victims`.
void Pager::leave(std::span<Victim> victims) {
  if (victims.empty()) return;
  const Mark mark("holdall: evict");
  try {
    leave_for_peers(victims);
  } catch (...) {
    undo_leave(victims);
    throw;
  }
  // 1. copies that still touch them: write-backs, and a copy in that nobody waited for
  vmm::Status status = vmm::Status::ok;
  for (Victim& victim : victims) {
    if (victim.to_peer >= 0) continue;  // resident there, and perhaps pinned already
    Chunk& chunk = victim.range->table[victim.chunk];
    assert(ChunkWord::of(chunk).state() == Chunk::leaving && ChunkWord::of(chunk).pins() == 0);
    Device& d = device_at(victim.device);
    if (status == vmm::Status::ok) status = d.in.wait(chunk.ready);
    if (status == vmm::Status::ok && victim.ticket) status = d.out.wait(victim.ticket);
    if (status == vmm::Status::ok && victim.written) {
      note_write_back(*victim.range, victim.chunk);
      publish(chunk, Chunk::leaving, victim.device, 0, false);
    }
  }
  // 2. unmap, neighbours together
  std::sort(victims.begin(), victims.end(), [](const Victim& a, const Victim& b) {
    return a.range != b.range ? a.range->id < b.range->id : a.chunk < b.chunk;
  });
  std::size_t done = 0;
  for (std::size_t i = 0; i < victims.size() && status == vmm::Status::ok; i = done) {
    if (victims[i].to_peer >= 0) {
      done = i + 1;
      continue;
    }
    std::size_t end = i + 1;
    while (config_.coalesce && end < victims.size() && victims[end].to_peer < 0 &&
           victims[end].range == victims[i].range &&
           victims[end].chunk == victims[end - 1].chunk + 1)
      ++end;
    RangeState& range = *victims[i].range;
    status = mapper_.unmap(range.address(victims[i].chunk), (end - i) * range.chunk_bytes);
    if (status != vmm::Status::ok) break;
    for (std::size_t k = i; k < end; ++k) {
      Chunk& chunk = range.table[victims[k].chunk];
      victims[k].dirty = ChunkWord::of(chunk).dirty();
      victims[k].frame = std::exchange(range.notes[victims[k].chunk].frame, vmm::Frame{});
      remove_resident(range, victims[k].chunk, victims[k].device);
      chunk.ready = 0;  // a ticket of this device means nothing to another
      range.notes[victims[k].chunk].next_victim = false;
      publish(chunk, Chunk::cold, 0, 0, false);
      if (!victims[k].discard) ++range.counters.evictions;
    }
    done = end;
  }
  // 3. all stay where one could not leave; those of a host-mapped range go back to their host
  // frames
  if (status != vmm::Status::ok) {
    undo_leave(victims);
    throw DriverError(status, fmt::format("cannot take chunks of '{}' from the device: {}",
                                          victims[0].range->name, vmm::to_string(status)));
  }
  for (const Victim& victim : victims)
    if (victim.to_peer < 0 && victim.range->cold == Cold::host_mapped && !victim.discard) try {
        map_host_frame(*victim.range, victim.chunk);
      } catch (const DriverError&) {
        // Stays cold; the next access in place tries again.
      }
}

// After a failure: those that are still mapped are resident again, those that have left come back
// if they can, and those that have moved to a peer stay there.
void Pager::undo_leave(std::span<Victim> victims) {
  for (Victim& victim : victims)
    if (ChunkWord::of(victim.range->table[victim.chunk]).state() == Chunk::leaving)
      take_back(victim);
    else if (victim.to_peer >= 0)
      drop_frame(victim);
    else if (static_cast<std::uint64_t>(victim.frame))
      restore(victim);
}

// Undoes the leaving of a victim whose frame still holds its contents. Where that fails it has
// left: its backing has them, unless they were not wanted any more.
void Pager::restore(Victim& victim) {
  RangeState& range = *victim.range;
  Chunk& chunk = range.table[victim.chunk];
  std::byte* const at = range.address(victim.chunk);
  if (ChunkWord::of(chunk).state() == Chunk::host_mapped) {
    auto& frames = static_cast<HostFrames&>(*range.backing);
    if (!try_mark_leaving(chunk, false)) return drop_frame(victim);
    if (frames.unmap(victim.chunk, at) != vmm::Status::ok) {
      publish(chunk, Chunk::host_mapped, 0, 0, false);
      return drop_frame(victim);
    }
    publish(chunk, Chunk::cold, 0, 0, false);
  }
  if (mapper_.map(at, range.chunk_bytes, victim.frame) != vmm::Status::ok) return drop_frame(victim);
  if (mapper_.set_access(at, range.chunk_bytes, {vmm::Place::device, victim.device}) !=
      vmm::Status::ok) {
    if (mapper_.unmap(at, range.chunk_bytes) == vmm::Status::ok) return drop_frame(victim);
    return poison(range, victim.chunk, victim.device, std::exchange(victim.frame, vmm::Frame{}));
  }
  range.notes[victim.chunk].frame = std::exchange(victim.frame, vmm::Frame{});
  publish(chunk, Chunk::resident, victim.device, 0, victim.dirty);
  add_resident(range, victim.chunk, victim.device);
  tell_back(range, victim.chunk, victim.device, victim.dirty);
  if (!victim.discard) --range.counters.evictions;
}

void Pager::drop_frame(Victim& victim) {
  if (static_cast<std::uint64_t>(victim.frame))
    device_at(victim.device)
        .pool.give(victim.range->chunk_bytes, std::exchange(victim.frame, vmm::Frame{}));
}

// Moves those victims that have a peer to go to; what cannot move leaves like the others. They are resident there
// afterwards, their old frames in `victims`.
void Pager::leave_for_peers(std::span<Victim> victims) {
  for (Victim& victim : victims) {
    if (victim.to_peer < 0) continue;
    RangeState& range = *victim.range;
    Chunk& chunk = range.table[victim.chunk];
    const ChunkWord word = ChunkWord::of(chunk);
    Device& from = device_at(victim.device);
    Device& to = device_at(victim.to_peer);
    const vmm::Place place{vmm::Place::device, victim.to_peer};
    std::byte* const at = range.address(victim.chunk);
    const Bytes bytes = range.chunk_bytes;
    // 1. a frame there, mapped where the copy lands
    vmm::Frame frame{};
    std::byte* const landing = landing_of(to, bytes);
    std::uint64_t ticket = 0;
    bool landed = landing && from.in.wait(chunk.ready) == vmm::Status::ok &&
                  to.pool.take(bytes, frame) == vmm::Status::ok;
    if (landed) {
      landed = mapper_.map(landing, bytes, frame) == vmm::Status::ok;
      if (landed) {
        // 2. the copy
        landed = mapper_.set_access(landing, bytes, place, true) == vmm::Status::ok &&
                 driver_->copy(landing, at, bytes, from.out.stream()) == vmm::Status::ok &&
                 from.out.submit(ticket) == vmm::Status::ok &&
                 from.out.wait(ticket) == vmm::Status::ok;
        if (mapper_.unmap(landing, bytes) != vmm::Status::ok) {
          to.landing = nullptr;  // in doubt: its addresses and its frame are not used again
          landed = false;
          frame = {};
        }
      }
    }
    // 3. the new frame in the old one's place
    if (landed && mapper_.unmap(at, bytes) == vmm::Status::ok) {
      if (mapper_.map(at, bytes, frame) == vmm::Status::ok) {
        if (mapper_.set_access(at, bytes, place, true) == vmm::Status::ok) {
          remove_resident(range, victim.chunk, victim.device);
          victim.frame = std::exchange(range.notes[victim.chunk].frame, frame);
          chunk.ready = 0;
          publish(chunk, Chunk::resident, victim.to_peer, 0, word.dirty(), true);
          add_resident(range, victim.chunk, victim.to_peer);
          tell_back(range, victim.chunk, to.index, word.dirty());
          ++from.moved_to_peers;
          continue;
        }
        (void)mapper_.unmap(at, bytes);
      }
      // Back to where it was.
      const vmm::Frame old = range.notes[victim.chunk].frame;
      if (mapper_.map(at, bytes, old) != vmm::Status::ok) {
        poison(range, victim.chunk, victim.device, {});
        from.pool.give(bytes, old);
      } else if (mapper_.set_access(at, bytes, {vmm::Place::device, victim.device}) !=
                 vmm::Status::ok) {
        poison(range, victim.chunk, victim.device, old);
      }
    }
    if (static_cast<std::uint64_t>(frame)) to.pool.give(bytes, frame);
    victim.to_peer = -1;
    if (ChunkWord::of(chunk).state() == Chunk::poisoned)
      throw ChunkPoisoned(fmt::format("chunk {} of '{}' could not be mapped again after a failed move to "
                                      "device {}: it alone is lost",
                                      victim.chunk, range.name, to.index));
    write_back(std::span(&victim, 1));
  }
}

std::byte* Pager::landing_of(Device& device, Bytes bytes) {
  if (device.landing_bytes < bytes) {
    if (device.landing) (void)driver_->unreserve(device.landing, device.landing_bytes);
    device.landing = nullptr;
    device.landing_bytes = 0;
    if (driver_->reserve(device.landing, bytes, 0, "landing") != vmm::Status::ok) return nullptr;
    device.landing_bytes = bytes;
  }
  return device.landing;
}

// The chunk's mapping is in doubt: it is not used again, nor is its frame, until its range is
// dropped.
void Pager::poison(RangeState& range, std::uint64_t index, int device, vmm::Frame frame) {
  if (range.notes[index].home) remove_resident(range, index, device);
  range.notes[index].frame = frame;
  range.poisoned.push_back(index);
  publish(range.table[index], Chunk::poisoned, device, 0, false);
}

// Writes back what is likely to be evicted next, several at a time, so that a fault finds clean victims.
void Pager::clean_ahead(Device& device) {
  const std::size_t most = std::min(clean_ahead_of, device.resident.size() / 2);
  if (device.next_victims.size() >= most) return;
  const Bytes chunk_bytes = device.resident.front().range->chunk_bytes;
  if (device.pool.room_for(std::min(slice * chunk_bytes, device.pool.budget() / 4))) return;
  for (const int peer : device.peers)  // they would move there, dirty as they are
    if (device_at(peer).pool.room_for(chunk_bytes)) return;
  drain();
  std::vector<Resident> chosen;
  while (device.next_victims.size() < most) {
    const auto may = [&](Key key) {
      const Resident at = chunk_of(key);
      const ChunkWord word = ChunkWord::of(at.range->table[at.chunk]);
      const ChunkNotes& notes = at.range->notes[at.chunk];
      return word.state() == Chunk::resident && word.pins() == 0 && !notes.next_victim && !notes.keep;
    };
    const std::optional<Key> key = device.policy->victim(may);
    if (!key) break;
    const Resident at = chunk_of(*key);
    at.range->notes[at.chunk].next_victim = true;
    device.next_victims.push_back(at);
    chosen.push_back(at);
  }
  try {
    start_write_backs(chosen);
  } catch (const std::exception&) {
    // They are dirty still; whoever needs their frames hears of it.
  }
}

// Evicts until the device's frames are within its budget, as far as pins allow.
void Pager::shrink(Device& device) {
  bool waiting = false;
  uses_.retire(true, waiting);
  drain();
  while (device.pool.allocated() > device.pool.budget() && device.pool.in_use()) {
    std::optional<Victim> victim = choose_victim(device.index);
    if (!victim) {
      over_budget_ = true;  // again when pins go
      return;
    }
    try {
      write_back(std::span(&*victim, 1));
    } catch (...) {
      take_back(*victim);
      throw;
    }
    leave(std::span(&*victim, 1));
    drop_frame(*victim);
  }
}

}  // namespace holdall
