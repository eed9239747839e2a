// The pager's thread: what it does in turn, and when what waits never will be served.
#include <fmt/format.h>
#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "engine/error.hpp"
#include "engine/pager.hpp"

namespace holdall {

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
  for (Task*& asked : asked_) {
    Task* const task = asked;
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
    asked = nullptr;  // who asked goes on, and the task is gone, while `endless` looks at the others
    const std::scoped_lock hold(lock_);
    task->done = true;
    task_done_.notify_all();
  }
  asked_.swap(unfinished);
  // 2. demands, first come first served, but for those who hold leases, since others may wait for
  // them, and for those who are in nobody's way
  if (!parked_.empty()) {
    if (log_is_long_.exchange(false)) drain();
    if (devices() > 1) take_turns();
    std::deque<std::shared_ptr<Pending>> still;
    for (auto& pending : parked_) {
      const bool may = std::ranges::all_of(still, [&](const auto& first) {
        return first->owner != pending->owner &&
               (pending->owner->live.load() > 0 || stays_off(*pending, first->use->device()));
      });
      // What has been asked for meanwhile, for another device perhaps, has its turn too.
      const bool others_first = progress && devices() > 1 && posted_;
      if (!others_first && (pending->done == Pending::cancelled || (may && serve(*pending)))) {
        last_served_ = pending->use->device();
        progress = true;
      } else {
        still.push_back(std::move(pending));
      }
    }
    parked_.swap(still);
    for (auto& pending : parked_)
      if (pending->waited && pending->everywhere && endless(pending->owner, pending->failed_at)) {
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
  // The policy hears of 64 ahead. Where the first of them is, the others most likely are.
  constexpr std::uint64_t ahead = 64;
  const std::uint64_t end = need.run.first + need.run.count;
  const auto expect = [&](std::uint64_t first) {
    const int home = need.range->notes[first].home;
    const std::uint64_t count = std::min(end - first, ahead);
    if (!home || count < 4) return;
    std::array<Key, ahead> keys;
    for (std::uint64_t i = 0; i < count; ++i) keys[i] = key(*need.range, first + i);
    device_at(home - 1).policy->expect(std::span(keys).first(count));
  };
  for (std::uint64_t i = need.run.first; i < end; ++i) {
    if ((i - need.run.first) % ahead == 0) expect(i);
    ChunkNotes& notes = need.range->notes[i];
    if (!notes.home && need.kind == Access::in_place) continue;  // read where it lies
    ++hits;
    if (!notes.home) {  // left since: the log runs behind
      trace(*need.range, i, 0, kind, 0, lease, time);
      continue;
    }
    notes.next_victim = false;
    Device& device = device_at(notes.home - 1);
    const Request request{need.range->chunk_bytes, write, false,
                          schedule_.use(key(*need.range, i))};
    device.policy->accessed(key(*need.range, i), request);
    if (device.prefetch) ask_prefetcher(*need.range, i, device.index, true);
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
// A lease moves from being pinned for, to live, to released, to unpinned; each is looked for after
// the one before it, so that none slips by.
bool Pager::endless(const ThreadLeases* owner, std::uint64_t failed_at) {
  if (!write_backs_.empty() || any_thread_pins()) return false;
  bool somebody = false;
  uses_.each_live([&](const LeaseRecord& record) {
    const ThreadLeases* const holder = record.owner;
    const auto waits = [&](const auto& waiter) {
      return waiter->owner == holder && waiter->failed_at == failed_at;
    };
    somebody |=
        holder != owner &&
        std::ranges::none_of(asked_, [&](const Task* task) { return task && waits(task); }) &&
        std::ranges::none_of(parked_, [&](const auto& p) { return p && p->waited && waits(p); });
  });
  bool waiting = false;
  return !somebody && !uses_.retire(true, waiting) && !waiting && uses_.unpins() == failed_at;
}

// Demands in turns by device, those of one device in their order, and that last served at the end of each turn. Calls on a
// device often wait until its copies have ended; another's link would wait with it.
void Pager::take_turns() {
  std::vector<int> turns(devices_.size(), 0);
  std::vector<std::pair<int, std::shared_ptr<Pending>>> order;
  for (auto& pending : parked_) {
    const int device = pending->use->device();
    const int turn = turns[static_cast<std::size_t>(device)]++;
    const int place = (device - last_served_ - 1 + devices()) % devices();
    order.emplace_back(turn * devices() + place, std::move(pending));
  }
  std::ranges::stable_sort(order, {}, [](const auto& o) { return o.first; });
  std::ranges::transform(order, parked_.begin(), [](auto& o) { return std::move(o.second); });
}

// Whether it takes nothing from `device`, neither frames nor chunks.
bool Pager::stays_off(const Pending& pending, int device) const {
  return pending.use->device() != device && std::ranges::none_of(pending.needs, [&](const Need& need) {
    const auto* const notes = need.range->notes + need.run.first;
    return std::any_of(notes, notes + need.run.count,
                       [&](const ChunkNotes& note) { return note.home == device + 1; });
  });
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

}  // namespace holdall
