#include "engine/stream_uses.hpp"

#include <algorithm>

#include "engine/error.hpp"

namespace holdall {

void unpin(const PinnedRun& run) {
  for (std::uint64_t i = 0; i < run.run.count; ++i) unpin(run.range->table[run.run.first + i]);
}

StreamUse::StreamUse(vmm::Driver& driver, Stream stream, int device, bool owned,
                     std::atomic<std::uint64_t>& unpins)
    : driver_(driver), stream_(stream), device_(device), owned_(owned), unpins_(unpins) {}

StreamUse::~StreamUse() {
  for (const Batch& batch : fenced_)
    if (batch.event.handle) (void)driver_.destroy_event(batch.event);
  for (const vmm::Event event : events_) (void)driver_.destroy_event(event);
}

LeaseRecord* StreamUse::link(ThreadLeases& owner, std::uint64_t number) {
  if (idle_.empty()) idle_.push_back(records_.emplace_back(std::make_unique<LeaseRecord>()).get());
  LeaseRecord* const record = idle_.back();
  idle_.pop_back();
  record->use = this;
  record->owner = &owner;
  record->number = number;
  record->previous = nullptr;
  record->next = live_;
  if (live_) live_->previous = record;
  live_ = record;
  owner.live.fetch_add(1, std::memory_order_relaxed);
  return record;
}

void StreamUse::unlink(LeaseRecord* record) {
  (record->previous ? record->previous->next : live_) = record->next;
  if (record->next) record->next->previous = record->previous;
  if (record->owner) record->owner->live.fetch_sub(1, std::memory_order_relaxed);
  record->owner = nullptr;
}

void StreamUse::release(LeaseRecord* record, bool fence_now) {
  const std::scoped_lock hold(lock_);
  unlink(record);
  released_.push_back(record);
  if (fence_now || !owned_ || released_.size() >= leases_a_fence) {
    fence();
    retire_passed();
  }
}

void StreamUse::hand_over(LeaseRecord* record) {
  const std::scoped_lock hold(lock_);
  if (record->owner) record->owner->live.fetch_sub(1, std::memory_order_relaxed);
  record->owner = nullptr;
}

void StreamUse::fence() {
  if (released_.empty()) return;
  if (owned_) {
    bool capturing = false;
    if (driver_.is_capturing(stream_, capturing) == vmm::Status::ok && capturing) return;  // later
  }
  vmm::Event event;
  vmm::Status status = vmm::Status::ok;
  if (events_.empty()) {
    status = driver_.create_event(event, device_);
  } else {
    event = events_.back();
    events_.pop_back();
  }
  if (status == vmm::Status::ok) {
    status = driver_.record(event, stream_);
    if (status != vmm::Status::ok) events_.push_back(event);
  }
  if (status != vmm::Status::ok) {
    // No event to be had: wait here. A lost device runs nothing any more.
    status = driver_.synchronize(stream_);
    if (status != vmm::Status::ok && driver_.health(device_) == vmm::Status::ok) return;  // later
    while (!fenced_.empty()) {
      if (fenced_.front().event.handle) events_.push_back(fenced_.front().event);
      drop_pins(fenced_.front().records);
      fenced_.pop_front();
    }
    drop_pins(released_);
    return;
  }
  Batch batch{event, {}};
  if (!spare_.empty()) {
    batch.records = std::move(spare_.back());
    spare_.pop_back();
  }
  std::swap(batch.records, released_);
  fenced_.push_back(std::move(batch));
}

void StreamUse::drop_pins(std::vector<LeaseRecord*>& records) {
  for (LeaseRecord* const record : records) {
    for (const PinnedRun& run : record->runs) unpin(run);
    record->runs.clear();
    idle_.push_back(record);
  }
  records.clear();
  ++unpins_;
}

bool StreamUse::retire_passed() {
  bool any = false;
  while (!fenced_.empty()) {
    const vmm::Status status = driver_.query(fenced_.front().event);
    if (status != vmm::Status::ok && driver_.health(device_) == vmm::Status::ok) break;
    drop_pins(fenced_.front().records);
    events_.push_back(fenced_.front().event);
    spare_.push_back(std::move(fenced_.front().records));
    fenced_.pop_front();
    any = true;
  }
  return any;
}

bool StreamUse::retire(bool fence_open, bool& waiting) {
  const std::scoped_lock hold(lock_);
  if (fence_open) fence();
  const bool any = retire_passed();
  waiting = waiting || !fenced_.empty() || !released_.empty();
  return any;
}

bool StreamUse::in_flight() {
  const std::scoped_lock hold(lock_);
  return !fenced_.empty() || !released_.empty();
}

void StreamUse::finish() {
  const std::scoped_lock hold(lock_);
  if (fenced_.empty() && released_.empty()) return;
  if (!released_.empty()) fence();
  while (!fenced_.empty()) {
    (void)driver_.synchronize(fenced_.front().event);
    drop_pins(fenced_.front().records);
    events_.push_back(fenced_.front().event);
    fenced_.pop_front();
  }
}

namespace {
std::atomic<std::uint64_t> next_id{1};
}

StreamUses::StreamUses(vmm::Driver& driver) : driver_(driver), id_(next_id++) {}

StreamUses::~StreamUses() {
  uses_.clear();
  for (const Stream stream : owned_) (void)driver_.destroy_stream(stream);
}

StreamUse& StreamUses::add(Stream stream, int device, bool owned) {
  auto& use = uses_[{stream.handle(), device}];
  if (!use) use = std::make_unique<StreamUse>(driver_, stream, device, owned, unpins_);
  return *use;
}

StreamUse& StreamUses::of(Stream stream) {
  // The thread's newest stream of ours, so that a hit takes no lock here. Another's may be gone
  // since.
  thread_local struct {
    std::uint64_t id = 0;
    Stream stream;
    StreamUse* use = nullptr;
  } newest;
  if (newest.id == id_ && newest.stream == stream) return *newest.use;
  int device = 0;
  if (driver_.device_of(stream, device) != vmm::Status::ok)
    throw InvalidAccess(
        "the stream is none of this engine's driver: pass a cudaStream_t with a GPU, "
        "Engine::stream() with any driver");
  StreamUse* use = nullptr;
  {
    const std::shared_lock hold(lock_);
    if (const auto found = uses_.find({stream.handle(), device}); found != uses_.end())
      use = found->second.get();
  }
  if (!use) {
    const std::unique_lock hold(lock_);
    use = &add(stream, device, false);
  }
  if (use->owned()) newest = {id_, stream, use};
  return *use;
}

Stream StreamUses::create(int device) {
  Stream stream;
  vmm::check(driver_.create_stream(stream, device), "create a stream");
  const std::unique_lock hold(lock_);
  owned_.push_back(stream);
  add(stream, device, true);
  return stream;
}

bool StreamUses::retire(bool fence, bool& waiting) {
  const std::shared_lock hold(lock_);
  bool any = false;
  for (auto& [handle, use] : uses_) any |= use->retire(fence, waiting);
  return any;
}

bool StreamUses::in_flight(int device) {
  const std::shared_lock hold(lock_);
  return std::ranges::any_of(
      uses_, [&](const auto& use) { return use.second->device() == device && use.second->in_flight(); });
}

void StreamUses::finish() {
  const std::shared_lock hold(lock_);
  for (auto& [handle, use] : uses_) use->finish();
}

}  // namespace holdall
