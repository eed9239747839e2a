// The contents of chunks that come in: zeros, from pinned memory, from files.
#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstring>

#include "engine/error.hpp"
#include "engine/mark.hpp"
#include "engine/pager.hpp"

namespace holdall {

// Starts what gives mapped chunks their contents; their `ready` says when.
void Pager::fill(std::span<Incoming> incoming) {
  const std::int64_t began = now_ns();
  std::vector<std::vector<vmm::Copy>> copies(devices_.size());
  std::vector<Incoming*> from_file;
  std::vector<bool> queued(devices_.size(), false);
  const auto zero = [&](const Incoming& in, Bytes first) {
    const Bytes bytes = in.range->chunk_bytes - first;
    if (bytes == 0) return;
    vmm::check(driver_->fill(in.range->address(in.chunk) + first, 0, bytes,
                             device_at(in.device).in.stream()),
               fmt::format("clear chunk {} of '{}'", in.chunk, in.range->name));
    queued[static_cast<std::size_t>(in.device)] = true;
  };
  // 1. zeros, and what lies in pinned memory
  for (Incoming& in : incoming) {
    ChunkNotes& notes = in.range->notes[in.chunk];
    if (in.kind == Access::overwrite) {
      zero(in, in.range->stored_bytes(in.chunk));  // what lies behind the range's end
      continue;
    }
    if (!notes.stored && !in.range->backing->full()) {
      zero(in, 0);
      continue;
    }
    const Bytes bytes = in.range->stored_bytes(in.chunk);
    in.copied = bytes;
    if (const std::byte* const from = in.range->backing->address(in.chunk, notes.slot, false)) {
      auto& queue = copies[static_cast<std::size_t>(in.device)];
      queue.push_back({in.range->address(in.chunk), from, bytes});
      zero(in, bytes);
    } else {
      from_file.push_back(&in);
    }
  }
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    if (copies[d].empty()) continue;
    vmm::check(driver_->copy(std::span<const vmm::Copy>(copies[d]), devices_[d]->in.stream()),
               "copy chunks in");
    queued[d] = true;
  }
  // 2. what lies in files: straight into the frame where the CPU reaches it, else through pinned memory
  if (!from_file.empty()) {
    const Mark mark("holdall: read files");
    std::vector<std::byte*> to(from_file.size());
    for (std::size_t i = 0; i < from_file.size(); ++i)
      to[i] = driver_->cpu_reaches_device()
                  ? from_file[i]->range->address(from_file[i]->chunk)
                  : next_slot(staging(from_file[i]->range->chunk_bytes));
    io_.execute([&] {
      tbb::parallel_for(std::size_t{0}, from_file.size(), [&](std::size_t i) {
        const Incoming& in = *from_file[i];
        in.range->backing->read(in.chunk * in.range->chunk_bytes, {to[i], in.copied});
        std::memset(to[i] + in.copied, 0, in.range->chunk_bytes - in.copied);
      });
    });
    if (timeline_)
      timeline_->add("read", "files", from_file[0]->range->name, from_file.size(), began, now_ns());
    if (!driver_->cpu_reaches_device())
      for (std::size_t i = 0; i < from_file.size(); ++i) {
        Incoming& in = *from_file[i];
        Device& d = device_at(in.device);
        vmm::check(driver_->copy(in.range->address(in.chunk), to[i], in.range->chunk_bytes, d.in.stream()),
                   "copy chunks in");
        vmm::check(d.in.submit(in.ready), "submit a copy in");
        slot_busy(staging(in.range->chunk_bytes), to[i], d.in, in.ready);
      }
  }
  // 3. one ticket a device
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    if (!queued[d]) continue;
    std::uint64_t ticket = 0;
    vmm::check(devices_[d]->in.submit(ticket), "submit a copy in");
    std::uint64_t chunks = 0;
    for (Incoming& in : incoming)
      if (static_cast<std::size_t>(in.device) == d) in.ready = ticket, ++chunks;
    if (timeline_)  // the stream comes to it when they have been copied; without it, they go untold
      (void)driver_->host_call(devices_[d]->in.stream(), [this, d, chunks, began, name = incoming[0].range->name] {
        timeline_->add("copy in", fmt::format("copy in {}", d), name, chunks, began, now_ns());
      });
  }
}

Pager::Staging& Pager::staging(Bytes chunk_bytes) {
  Staging& ring = staging_[chunk_bytes];
  while (ring.slots.size() < 2 * slice) {
    const std::string what = "the staging of files";
    host_memory_.charge(chunk_bytes, what);
    std::byte* at = nullptr;
    try {
      at = host_memory_.reserve(chunk_bytes, what);
      host_memory_.pin(at, chunk_bytes, what);
    } catch (const OutOfHostMemory&) {
      if (at) host_memory_.unreserve(at, chunk_bytes);
      host_memory_.discharge(chunk_bytes);
      if (ring.slots.size() >= slice) break;  // a shorter ring will do
      throw;
    }
    ring.slots.push_back(at);
    ring.queues.push_back(nullptr);
    ring.tickets.push_back(0);
  }
  return ring;
}

std::byte* Pager::next_slot(Staging& ring) {
  const std::size_t i = ring.next++ % ring.slots.size();
  if (ring.queues[i]) vmm::check(ring.queues[i]->wait(ring.tickets[i]), "wait for a staged copy");
  ring.queues[i] = nullptr;
  return ring.slots[i];
}

void Pager::slot_busy(Staging& ring, const std::byte* slot, CopyQueue& queue, std::uint64_t ticket) {
  const auto i = static_cast<std::size_t>(std::ranges::find(ring.slots, slot) - ring.slots.begin());
  ring.queues[i] = &queue;
  ring.tickets[i] = ticket;
}

}  // namespace holdall
