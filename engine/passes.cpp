#include "engine/passes.hpp"

#include <algorithm>
#include <utility>

#include "engine/error.hpp"

namespace holdall {

namespace {

constexpr std::size_t passes_ahead = 2;
constexpr Bytes largest_pass = Bytes{256}
                               << 20;  // 5 ms of link: long beside a launch, short beside a sweep

// Range by range, in runs.
std::vector<Need> by_range(std::vector<Need> needs) {
  std::ranges::stable_sort(needs, {},
                           [](const Need& n) { return std::pair(n.range->id, n.run.first); });
  std::vector<Need> runs;
  for (const Need& need : needs)
    if (!runs.empty() && runs.back().range == need.range &&
        runs.back().run.first + runs.back().run.count == need.run.first)
      runs.back().run.count += need.run.count;
    else
      runs.push_back(need);
  return runs;
}

// Cut into parts of at most `most` chunks.
std::vector<std::vector<Need>> parts_of(std::span<const Need> needs, std::uint64_t most) {
  std::vector<std::vector<Need>> parts;
  std::uint64_t room = 0;
  for (Need need : needs)
    while (need.run.count > 0) {
      if (room == 0) {
        parts.emplace_back();
        room = most;
      }
      const std::uint64_t count = std::min(need.run.count, room);
      parts.back().push_back({need.range, {need.run.first, count}, need.kind});
      need.run.first += count;
      need.run.count -= count;
      room -= count;
    }
  return parts;
}

}  // namespace

Passes::Passes(Pager& pager, Stream stream, std::vector<Need> needs, std::size_t together)
    : pager_(&pager), use_(&pager.uses().of(stream)), together_(together) {
  pager.check_use(*use_);
  // Small enough that bringing in, working and leaving overlap in what other leases leave free.
  const Bytes budget = pager.memory(use_->device());
  const Bytes leased = std::min(budget, pager.leased(use_->device()));
  pass_bytes_ = std::min((budget - leased) / 8, largest_pass);
  if (together_ > 1) {
    pin_groups(needs);
    return;
  }
  std::vector<Pager::PinnedPart> parts = pager.pin_resident(*use_, needs, pass_bytes_);
  for (Pager::PinnedPart& part : parts) {
    Pinned& pinned = resident_.emplace_back();
    pinned.needs = std::move(part.needs);
    pinned.leases.emplace_back(pager, part.record);
  }
  missing_.assign(needs.begin(), needs.end());
}

// A group counts as resident if all of it is.
void Passes::pin_groups(const std::vector<Need>& needs) {
  Bytes taken = 0;
  for (std::size_t at = 0; at < needs.size(); at += together_) {
    const std::vector<Need> group(needs.begin() + static_cast<std::ptrdiff_t>(at),
                                  needs.begin() + static_cast<std::ptrdiff_t>(at + together_));
    std::vector<Need> left = group;
    std::vector<Lease> leases;
    for (Pager::PinnedPart& part : pager_->pin_resident(*use_, left, ~Bytes{0}))
      leases.emplace_back(*pager_, part.record);
    if (!left.empty()) {
      missing_.insert(missing_.end(), group.begin(), group.end());
      continue;
    }
    if (resident_.empty() || taken >= pass_bytes_) {
      resident_.emplace_back();
      taken = 0;
    }
    Pinned& pinned = resident_.back();
    pinned.needs.insert(pinned.needs.end(), group.begin(), group.end());
    for (Lease& lease : leases) pinned.leases.push_back(std::move(lease));
    for (const Need& need : group) taken += need.run.count * need.range->chunk_bytes;
  }
}

void Passes::leave_out(
    const std::function<bool(const RangeState& range, std::uint64_t chunk)>& which) {
  std::deque<Need> kept;
  for (std::size_t at = 0; at < missing_.size(); at += together_) {
    const Need& first = missing_[at];
    if (together_ > 1) {
      if (which(*first.range, first.run.first)) continue;
      for (std::size_t i = 0; i < together_; ++i) kept.push_back(missing_[at + i]);
      continue;
    }
    bool open = false;
    for (std::uint64_t c = first.run.first; c < first.run.first + first.run.count; ++c) {
      if (which(*first.range, c)) {
        open = false;
      } else if (open) {
        ++kept.back().run.count;
      } else {
        kept.push_back({first.range, {c, 1}, first.kind});
        open = true;
      }
    }
  }
  missing_.swap(kept);
}

Passes& Passes::operator=(Passes&& other) noexcept {
  Passes gone(std::move(other));
  std::swap(pager_, gone.pager_);
  std::swap(use_, gone.use_);
  std::swap(pass_bytes_, gone.pass_bytes_);
  std::swap(together_, gone.together_);
  resident_.swap(gone.resident_);
  missing_.swap(gone.missing_);
  ahead_.swap(gone.ahead_);
  parts_.swap(gone.parts_);
  leases_.swap(gone.leases_);
  std::swap(was_resident_, gone.was_resident_);
  return *this;
}

Passes::~Passes() {
  for (Ahead& ahead : ahead_) cancel(ahead);
}

// The next of the missing chunks, some pass_bytes_, at least one (a group).
std::vector<Need> Passes::cut() {
  std::vector<Need> part;
  Bytes taken = 0;
  while (together_ > 1 && !missing_.empty() && (part.empty() || taken < pass_bytes_)) {
    for (std::size_t i = 0; i < together_; ++i) {
      taken += missing_.front().run.count * missing_.front().range->chunk_bytes;
      part.push_back(missing_.front());
      missing_.pop_front();
    }
  }
  while (together_ == 1 && !missing_.empty()) {
    Need& first = missing_.front();
    const std::uint64_t fits =
        pass_bytes_ > taken ? (pass_bytes_ - taken) / first.range->chunk_bytes : 0;
    const std::uint64_t count =
        std::min(first.run.count, std::max<std::uint64_t>(fits, part.empty() ? 1 : 0));
    if (count == 0) break;
    part.push_back({first.range, {first.run.first, count}, first.kind});
    taken += count * first.range->chunk_bytes;
    first.run.first += count;
    first.run.count -= count;
    if (first.run.count == 0) missing_.pop_front();
  }
  return part;
}

void Passes::look_ahead() {
  while (!missing_.empty() && ahead_.size() < passes_ahead) {
    Ahead& ahead = ahead_.emplace_back();
    ahead.needs = cut();
    for (std::vector<Need>& part :
         parts_of(together_ == 1 ? ahead.needs : by_range(ahead.needs), Pager::slice))
      ahead.pending.push_back(pager_->begin(*use_, std::move(part)));
  }
}

bool Passes::arrived(const Ahead& ahead) const {
  return std::ranges::all_of(ahead.pending, [&](const auto& part) { return pager_->arrived(*part); });
}

// Leases all of it, or nothing.
void Passes::take(Ahead& ahead) {
  try {
    for (; !ahead.pending.empty(); ahead.pending.pop_front())
      leases_.emplace_back(*pager_, pager_->finish(*ahead.pending.front()));
  } catch (...) {
    cancel(ahead);
    leases_.clear();
    throw;
  }
}

void Passes::cancel(Ahead& ahead) {
  for (; !ahead.pending.empty(); ahead.pending.pop_back()) pager_->cancel(*ahead.pending.back());
}

// The pass did not fit beside other leases: all that was asked for ahead is put back, to be cut
// smaller.
void Passes::step_back(Ahead failed) {
  ahead_.push_front(std::move(failed));
  while (!ahead_.empty()) {
    cancel(ahead_.back());
    missing_.insert(missing_.begin(), ahead_.back().needs.begin(), ahead_.back().needs.end());
    ahead_.pop_back();
  }
  pass_bytes_ /= 2;
}

bool Passes::next() {
  leases_.clear();
  parts_.clear();
  // What has been brought in goes first, so that its frames are soon free for more and the link
  // never waits; resident chunks fill the time until then.
  was_resident_ =
      !resident_.empty() && !(!ahead_.empty() && arrived(ahead_.front()));
  if (was_resident_) {
    // All at once where nothing is missing; otherwise a part at a time, so that each gives its
    // frames up when it is done.
    do {
      Pinned& first = resident_.front();
      parts_.insert(parts_.end(), first.needs.begin(), first.needs.end());
      for (Lease& lease : first.leases) leases_.push_back(std::move(lease));
      resident_.pop_front();
    } while (missing_.empty() && ahead_.empty() && !resident_.empty());
    look_ahead();
    return true;
  }
  for (;;) {
    look_ahead();
    if (ahead_.empty()) return false;
    Ahead ahead = std::move(ahead_.front());
    ahead_.pop_front();
    const bool smallest = ahead.needs.size() == together_ && ahead.needs[0].run.count == 1;
    try {
      take(ahead);
    } catch (const WouldDeadlock&) {
      if (smallest) throw;
      step_back(std::move(ahead));
      continue;
    } catch (const WorkingSetTooLarge&) {
      if (smallest) throw;
      step_back(std::move(ahead));
      continue;
    }
    parts_ = std::move(ahead.needs);
    look_ahead();
    return true;
  }
}

}  // namespace holdall
