#include "engine/vmm/host/table.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "engine/vmm/host/slack.hpp"

namespace holdall::vmm {

namespace {

void* pointer(Address at) { return reinterpret_cast<void*>(at); }

int bits(Protection protection) {
  if (protection == Protection::none) return PROT_NONE;
  return protection == Protection::read ? PROT_READ : PROT_READ | PROT_WRITE;
}

Protection all_of(const std::vector<Protection>& granted) {
  return *std::max_element(granted.begin(), granted.end());
}

bool put_frame(Address at, const Mapping& m, int protection) {
  return ::mmap(pointer(at), m.bytes, protection, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, m.file,
                static_cast<off_t>(m.offset)) != MAP_FAILED;
}

// Never munmap and then mmap: in between, another thread's mmap would take the hole.
bool put_nothing(Address at, Bytes bytes) {
  return ::mmap(pointer(at), bytes, PROT_NONE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != MAP_FAILED;
}

// For calls that must succeed at the limit of mappings.
template <typename Call>
bool with_slack(Call call) {
  return call() || (errno == ENOMEM && drop_map_slack() && call());
}

Status from_errno() { return errno == ENOMEM ? Status::map_limit : Status::unknown; }

}  // namespace

PageTable::~PageTable() {
  for (const auto& [at, reservation] : reservations_) {
    unwatch(*reservation.watched);
    ::munmap(pointer(at), reservation.bytes);
  }
}

Status PageTable::reserve(Address& at, Bytes bytes, Bytes alignment, std::string_view label) {
  if (bytes == 0 || bytes % host_granule != 0 || (alignment & (alignment - 1)) != 0)
    return Status::invalid_value;
  const Bytes unit = std::max(alignment, host_granule);
  if (bytes + unit < bytes) return Status::out_of_memory;
  if (!hold_map_slack()) return Status::map_limit;

  // mmap promises pages only: ask for more and cut off what sticks out.
  void* got =
      ::mmap(nullptr, bytes + unit, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) return Status::out_of_memory;
  const auto start = reinterpret_cast<Address>(got);
  at = round_up(start, unit);
  if (at > start) ::munmap(got, at - start);
  if (const Bytes after = start + unit - at; after > 0) ::munmap(pointer(at + bytes), after);

  Reservation& made = reservations_[at];
  made = {bytes, std::string(label), nullptr};
  made.watched = &watch(at, bytes, made.label, scratch_);
  return Status::ok;
}

Status PageTable::unreserve(Address at, Bytes bytes) {
  const auto it = reservations_.find(at);
  if (it == reservations_.end() || it->second.bytes != bytes || mapped(at, bytes) > 0)
    return Status::invalid_value;
  take_scratch_away();
  unwatch(*it->second.watched);
  if (!with_slack([&] { return ::munmap(pointer(at), bytes) == 0; })) {
    it->second.watched = &watch(at, bytes, it->second.label, scratch_);
    return from_errno();
  }
  reservations_.erase(it);
  return Status::ok;
}

Status PageTable::map(Address at, Mapping mapping) {
  if (at % host_granule != 0 || reservation_of(at, mapping.bytes) == nullptr ||
      mapped(at, mapping.bytes) > 0)
    return Status::invalid_value;
  if (!hold_map_slack()) return Status::map_limit;
  if (!put_frame(at, mapping, PROT_NONE)) {
    const Status status = from_errno();
    drop_map_slack();  // so that malloc and threads still have some; map waits until it can be held
    return status;
  }
  mapping.granted.assign(devices_ + 1, Protection::none);
  mappings_.emplace(at, std::move(mapping));
  return Status::ok;
}

std::vector<const Mapping*> PageTable::covering(Address at, Bytes bytes) const {
  std::vector<const Mapping*> found;
  Address next = at;
  const Address end = at + bytes;
  for (auto it = mappings_.find(at); it != mappings_.end() && it->first == next && next < end;
       ++it) {
    found.push_back(&it->second);
    next += it->second.bytes;
  }
  if (next != end) found.clear();
  return found;
}

Status PageTable::set_access(Address at, Bytes bytes, std::span<const Grant> to) {
  take_scratch_away();
  std::vector<std::vector<Protection>> before;
  Address changed = at;  // up to here
  Status status = Status::ok;
  for (auto it = mappings_.find(at); changed < at + bytes && status == Status::ok; ++it) {
    Mapping& m = it->second;
    std::vector<Protection> after = m.granted;
    for (const Grant& grant : to)
      after[grant.to.kind == Place::host ? devices_ : static_cast<std::size_t>(grant.to.index)] =
          grant.protection;
    const int wanted = bits(all_of(after));
    if (!with_slack([&] { return ::mprotect(pointer(it->first), m.bytes, wanted) == 0; })) {
      status = from_errno();
      break;
    }
    before.push_back(std::exchange(m.granted, std::move(after)));
    changed += m.bytes;
  }
  if (status == Status::ok) return status;
  auto old = before.begin();
  for (auto it = mappings_.find(at); it->first < changed; ++it, ++old) {
    it->second.granted = std::move(*old);
    ::mprotect(pointer(it->first), it->second.bytes, bits(all_of(it->second.granted)));
  }
  return status;
}

Status PageTable::unmap(Address at, Bytes bytes) {
  if (!with_slack([&] { return put_nothing(at, bytes); })) return from_errno();
  mappings_.erase(mappings_.find(at), mappings_.lower_bound(at + bytes));
  return Status::ok;
}

Reach PageTable::reach(Address at, Bytes bytes, int device, Protection wanted) const {
  Reach reach;
  const Address end = at + bytes;
  auto range = reservations_.upper_bound(at);
  reach.mapped = (range != reservations_.end() && range->first < end) ||
                 (range != reservations_.begin() &&
                  std::prev(range)->first + std::prev(range)->second.bytes > at);
  if (!reach.mapped) return reach;

  auto it = mappings_.upper_bound(at);
  if (it != mappings_.begin() && std::prev(it)->first + std::prev(it)->second.bytes > at) --it;
  if (it != mappings_.end() && it->first < end) reach.place = it->second.place;
  const auto fail = [&](Address bad, std::string_view what) {
    if (reach.bad == 0) reach.bad = bad, reach.what = what;
  };
  Address next = at;
  for (; it != mappings_.end() && it->first < end; ++it) {
    const Mapping& m = it->second;
    if (it->first > next) fail(next, "an unmapped address");
    const Protection has = m.granted[static_cast<std::size_t>(device)];
    if (has < wanted)
      fail(std::max(at, it->first),
           has == Protection::none ? "an ungranted address" : "a read-only address");
    if (!(m.place == reach.place)) reach.mixed = true;
    next = it->first + m.bytes;
  }
  if (next < end) fail(next, "an unmapped address");
  return reach;
}

Bytes PageTable::mapped(Address at, Bytes bytes) const {
  const Address end = at + bytes;
  auto it = mappings_.upper_bound(at);
  if (it != mappings_.begin()) --it;
  Bytes sum = 0;
  for (; it != mappings_.end() && it->first < end; ++it) {
    const Address from = std::max(at, it->first);
    const Address to = std::min(end, it->first + it->second.bytes);
    if (to > from) sum += to - from;
  }
  return sum;
}

std::string PageTable::name(Address at) const {
  const auto* range = reservation_of(at, 1);
  if (range == nullptr) return fmt::format("{:#x}", at);
  return place_in(range->second.label, at - range->first);
}

void PageTable::take_scratch_away() {
  for (const Address granule : scratch_.take()) {
    if (reservation_of(granule, host_granule) == nullptr) continue;
    auto it = mappings_.upper_bound(granule);
    if (it != mappings_.begin()) --it;
    if (it != mappings_.end() && it->first <= granule && granule < it->first + it->second.bytes)
      put_frame(it->first, it->second, bits(all_of(it->second.granted)));
    else
      put_nothing(granule, host_granule);
  }
}

const std::pair<const Address, PageTable::Reservation>* PageTable::reservation_of(
    Address at, Bytes bytes) const {
  auto it = reservations_.upper_bound(at);
  if (it == reservations_.begin()) return nullptr;
  --it;
  return at + bytes >= at && at + bytes <= it->first + it->second.bytes ? &*it : nullptr;
}

}  // namespace holdall::vmm
