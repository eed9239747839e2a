#include "engine/demand.hpp"

#include <algorithm>

#include "engine/error.hpp"

namespace holdall {

namespace {

// In one chunk, if they fit: the budget may be of few.
Range<std::uint64_t> bitmaps(Pager& pager, const RangeState& range) {
  RangeOptions options;
  options.name = range.name + " (demand)";
  options.chunk = pager.driver().granularity({vmm::Place::device, 0});
  const Bytes bytes = 2 * ((range.chunks + 63) / 64) * sizeof(std::uint64_t);
  return {pager, pager.reserve(bytes, options)};
}

Pager& checked(Pager& pager, RangeState& range, Access::Kind kind) {
  const Access whole{&range, kind, 0, range.bytes, nullptr};
  (void)pager.needs_of(std::span(&whole, 1));
  return pager;
}

}  // namespace

Demand::Demand(Pager& pager, Stream stream, RangeState& range, Access::Kind kind)
    : pager_(&checked(pager, range, kind)),
      use_(&pager.uses().of(stream)),
      range_(&range),
      kind_(kind),
      bitmaps_(bitmaps(pager, range)),
      words_((range.chunks + 63) / 64) {
  const Access whole = write(bitmaps_);
  bitmaps_lease_ = Lease(pager, pager.acquire(stream, std::span(&whole, 1)));
  show();
}

// Leases all of the range that is resident, and says so in the bitmap.
void Demand::show() {
  std::vector<Need> needs{{range_, {0, range_->chunks}, kind_}};
  for (Pager::PinnedPart& part : pager_->pin_resident(*use_, needs, ~Bytes{0}))
    leases_.emplace_back(*pager_, part.record);
  ChunkSet set(range_->chunks);
  set.add(0, range_->chunks);
  for (const Need& missing : needs)
    for (std::uint64_t i = 0; i < missing.run.count; ++i) set.remove(missing.run.first + i);
  std::copy(set.words().begin(), set.words().end(), words_.begin());
  vmm::check(
      pager_->driver().copy(bitmaps_.data(), words_.data(), words_.size() * 8, use_->stream()),
      "write a residency bitmap");
  vmm::check(pager_->driver().synchronize(use_->stream()), "wait for a residency bitmap");
}

bool Demand::service() {
  vmm::Driver& driver = pager_->driver();
  // 1. what was missed
  const Bytes bytes = words_.size() * 8;
  vmm::check(driver.copy(words_.data(), missed(), bytes, use_->stream()), "read a demand bitmap");
  vmm::check(driver.fill(missed(), 0, bytes, use_->stream()), "clear a demand bitmap");
  vmm::check(driver.synchronize(use_->stream()), "wait for the kernels of a demand");
  const ChunkSet missed(words_, range_->chunks);
  const std::uint64_t count = missed.count();
  if (count == 0) return false;
  missed_in_all_ += count;
  // 2. nothing is in use any more, so all may be evicted but what was missed
  leases_.clear();
  const Bytes budget = pager_->memory(use_->device());
  const Bytes leased = std::min(budget, pager_->leased(use_->device()));
  for (std::uint64_t most = std::clamp<std::uint64_t>((budget - leased) / range_->chunk_bytes, 1, count);;
       most /= 2) {
    std::vector<Need> needs;
    std::uint64_t left = most;
    for (const ChunkRun run : missed.runs()) {
      const std::uint64_t n = std::min(left, run.count);
      if (n) needs.push_back({range_, {run.first, n}, kind_});
      left -= n;
    }
    try {
      leases_.emplace_back(*pager_, pager_->finish(*pager_->begin(*use_, std::move(needs))));
      break;
    } catch (const WouldDeadlock&) {
      if (most == 1) throw;
    } catch (const WorkingSetTooLarge&) {
      if (most == 1) throw;
    }
  }
  // 3. what is there now
  show();
  return true;
}

}  // namespace holdall
