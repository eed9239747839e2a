// Leases, as other threads take and end them: hits without the pager, demands by way of it.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/error.hpp"
#include "engine/mark.hpp"
#include "engine/pager.hpp"

namespace holdall {

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
      log_hits(needs, record->number, now_ns());
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

void Pager::log_hits(std::span<const Need> needs, std::uint64_t lease, std::int64_t time) {
  bool log_is_long = false;
  for (const Need& need : needs)
    log_is_long |= log_.append({need.range, need.run, need.kind, lease, time});
  if (log_is_long && !log_is_long_.load(std::memory_order_relaxed) && !log_is_long_.exchange(true))
    post([] {});
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
  }
  self.pinning.store(false, std::memory_order_release);
  for (const PinnedPart& part : parts) log_hits(part.needs, part.record->number, now);
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

}  // namespace holdall
