#include <fmt/format.h>
#include <sys/mman.h>

#include "engine/vmm/host/driver.hpp"

namespace holdall::vmm {

namespace {

Address address(const void* at) { return reinterpret_cast<Address>(at); }

Status told(Status status, const char* call, Address at, Bytes bytes) {
  if (status == Status::ok) return status;
  return refuse(status,
                fmt::format("{} at {:#x} of {} bytes: {}", call, at, bytes, to_string(status)));
}

}  // namespace

Status LinuxDriver::reserve(std::byte*& at, Bytes bytes, Bytes alignment, std::string_view label) {
  if (const Ruling ruling = injections_.enter(Call::reserve); ruling.status != Status::ok)
    return refuse(ruling.status, "injected");
  const std::lock_guard lock(memory_);
  Address got = 0;
  const Status status = table_.reserve(got, bytes, alignment, label);
  if (status == Status::ok) at = reinterpret_cast<std::byte*>(got);
  return told(status, "reserve", got, bytes);
}

Status LinuxDriver::unreserve(std::byte* at, Bytes bytes) {
  const std::lock_guard lock(memory_);
  return told(table_.unreserve(address(at), bytes), "unreserve", address(at), bytes);
}

Status LinuxDriver::create(Frame& frame, Bytes bytes, Place place) {
  if (const Ruling ruling = injections_.enter(Call::create); ruling.status != Status::ok)
    return refuse(ruling.status, "injected");
  if (place.kind == Place::device) {
    if (const Status status = usable(place.index); status != Status::ok) return status;
  }
  if (bytes == 0 || bytes % host_granule != 0 || place.index < 0)
    return refuse(Status::invalid_value,
                  fmt::format("a frame of {} bytes: give a multiple of 2 MiB", bytes));
  std::unique_lock lock(memory_);
  HostMemory& memory = frames_.memory(place);
  const bool fits = place.kind == Place::device || bytes + pinned_locked() <= options_.pin_limit;
  const std::optional<Bytes> offset = fits ? memory.take(bytes) : std::nullopt;
  if (!offset)
    return refuse(
        Status::out_of_memory,
        fmt::format("a frame of {}: {} of {} are taken", holdall::to_string(bytes),
                    holdall::to_string(memory.taken()), holdall::to_string(memory.capacity())));
  lock.unlock();
  memory.make_large(*offset, bytes);
  if (options_.poison >= 0 && !memory.poison(*offset, bytes, options_.poison)) {
    give_back({{place, *offset, bytes}});
    return refuse(Status::out_of_memory, "the system has no memory for the frame");
  }
  lock.lock();
  frame = frames_.add(place, bytes, *offset);
  return Status::ok;
}

Status LinuxDriver::release(Frame frame) {
  if (const Ruling ruling = injections_.enter(Call::release); ruling.status != Status::ok)
    return refuse(ruling.status, "injected");
  std::unique_lock lock(memory_);
  FrameTable::Entry* entry = frames_.find(frame);
  if (entry == nullptr || entry->released)
    return refuse(Status::invalid_value, "release of no frame, or of one released before");
  entry->released = true;
  if (entry->mappings > 0) return Status::ok;
  const Extent extent{entry->place, entry->offset, entry->bytes};
  frames_.remove(frame);
  lock.unlock();
  give_back({extent});
  return Status::ok;
}

// Punching holes takes long, so it is done outside the lock, and only then is the extent free.
void LinuxDriver::give_back(const std::vector<Extent>& extents) {
  if (extents.empty()) return;
  for (const auto& [place, offset, bytes] : extents) frames_.memory(place).discard(offset, bytes);
  const std::lock_guard lock(memory_);
  for (const auto& [place, offset, bytes] : extents) frames_.memory(place).give(offset, bytes);
}

Status LinuxDriver::map(std::byte* at, Bytes bytes, Frame frame) {
  if (const Ruling ruling = injections_.enter(Call::map); ruling.status != Status::ok)
    return refuse(ruling.status, "injected");
  const std::lock_guard lock(memory_);
  FrameTable::Entry* entry = frames_.find(frame);
  if (entry == nullptr || entry->released)
    return refuse(Status::invalid_value, "map of no frame, or of a released one");
  if (bytes != entry->bytes)
    return refuse(bytes < entry->bytes ? Status::not_supported : Status::invalid_value,
                  fmt::format("map of {} bytes of a frame of {}: a frame is mapped whole", bytes,
                              entry->bytes));
  if (entry->place.kind == Place::device) {
    if (const Status status = usable(entry->place.index); status != Status::ok) return status;
  }
  const Status status = table_.map(address(at), Mapping{.bytes = bytes,
                                                        .frame = frame,
                                                        .place = entry->place,
                                                        .file = frames_.memory(entry->place).file(),
                                                        .offset = entry->offset,
                                                        .granted = {}});
  if (status == Status::ok) ++entry->mappings;
  return told(status, "map", address(at), bytes);
}

Status LinuxDriver::may_grant(const Mapping& mapping, const Grant& grant) const {
  const bool on_device = mapping.place.kind == Place::device;
  if (grant.to.kind == Place::host)
    return on_device ? refuse(Status::not_supported, "the CPU gets no grant on device memory")
                     : Status::ok;
  if (const Status status = usable(grant.to.index); status != Status::ok) return status;
  if (on_device && grant.to.index != mapping.place.index &&
      !can_access_peer(grant.to.index, mapping.place.index))
    return refuse(Status::invalid_value, fmt::format("device {} can't access device {}",
                                                     grant.to.index, mapping.place.index));
  return Status::ok;
}

Status LinuxDriver::set_access(std::byte* at, Bytes bytes, std::span<const Grant> to) {
  if (const Ruling ruling = injections_.enter(Call::set_access); ruling.status != Status::ok)
    return refuse(ruling.status, "injected");
  const std::lock_guard lock(memory_);
  const auto covering = table_.covering(address(at), bytes);
  if (covering.empty() || to.empty())
    return told(Status::invalid_value, "set_access", address(at), bytes);
  for (const Mapping* mapping : covering)
    for (const Grant& grant : to)
      if (const Status status = may_grant(*mapping, grant); status != Status::ok) return status;
  return told(table_.set_access(address(at), bytes, to), "set_access", address(at), bytes);
}

Status LinuxDriver::unmap(std::byte* at, Bytes bytes) {
  if (const Ruling ruling = injections_.enter(Call::unmap); ruling.status != Status::ok)
    return refuse(ruling.status, "injected");
  std::unique_lock lock(memory_);
  const auto covering = table_.covering(address(at), bytes);
  if (covering.empty()) return told(Status::invalid_value, "unmap", address(at), bytes);

  // 1. whoever is using it is lost, and told why before a touch tells it less well
  for (HostStream* stream : flight_.touching(address(at), bytes))
    if (!stream->sticky().lost())
      stream->sticky().set(at,
                           fmt::format("unmap of {} ({} bytes) under a copy in flight on stream {}",
                                       table_.name(address(at)), bytes, stream->number()));

  // 2. unmap
  std::vector<Frame> unmapped;
  for (const Mapping* mapping : covering) unmapped.push_back(mapping->frame);
  if (const Status status = table_.unmap(address(at), bytes); status != Status::ok)
    return told(status, "unmap", address(at), bytes);

  // 3. frames that waited for this are gone
  std::vector<Extent> gone;
  for (const Frame frame : unmapped) {
    FrameTable::Entry& entry = *frames_.find(frame);
    if (--entry.mappings > 0 || !entry.released) continue;
    gone.push_back({entry.place, entry.offset, entry.bytes});
    frames_.remove(frame);
  }
  lock.unlock();
  give_back(gone);
  return Status::ok;
}

Status LinuxDriver::pin(void* at, Bytes bytes) {
  if (const Ruling ruling = injections_.enter(Call::pin); ruling.status != Status::ok)
    return refuse(ruling.status, "injected");
  if (at == nullptr || bytes == 0 || address(at) % page_bytes() != 0 || bytes % page_bytes() != 0)
    return refuse(Status::invalid_value, "pin of other than whole pages");
  // Does nothing but fail where a page is not mapped at all.
  if (::msync(at, bytes, MS_ASYNC) != 0)
    return refuse(Status::invalid_value, "pin of memory that is not there");
  const std::lock_guard lock(memory_);
  if (table_.reach(address(at), bytes, 0, Protection::none).mapped)
    return refuse(Status::invalid_value, "pin of memory of the driver's own");
  if (bytes + pinned_locked() > options_.pin_limit)
    return refuse(
        Status::out_of_memory,
        fmt::format("pin of {}: {} of {} are pinned", holdall::to_string(bytes),
                    holdall::to_string(pinned_locked()), holdall::to_string(options_.pin_limit)));
  if (!pins_.add(address(at), bytes))
    return refuse(Status::invalid_value, "pin of memory that is pinned already");
  return Status::ok;
}

Status LinuxDriver::unpin(void* at) {
  const std::lock_guard lock(memory_);
  if (pins_.remove(address(at)) == 0)
    return refuse(Status::invalid_value, "unpin of memory that is not pinned");
  return Status::ok;
}

}  // namespace holdall::vmm
