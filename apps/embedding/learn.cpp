// A step of learning: rows that are asked for more than some in device memory change places with
// those.
#include <tbb/parallel_sort.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "apps/embedding/learn_work.hpp"
#include "apps/embedding/version.hpp"

namespace holdall::embedding {

namespace {

using kernels::count_bins;
using kernels::Move;

constexpr std::uint32_t slice = 4096;  // rows moved in one turn

// Counts from which on entries belong into device memory, and below which they leave it for such.
struct Bounds {
  std::uint32_t from = count_bins;  // of entries on the host
  std::uint32_t below = 0;          // of entries in device memory
  std::uint64_t come = 0;           // how many are asked for so often
};

Bounds bounds_of(const std::uint32_t* hot, const std::uint32_t* cold, std::uint64_t room,
                 std::uint32_t most) {
  // 1. what fits: the highest counts
  Bounds bounds;
  std::uint64_t above = 0;
  std::uint32_t fits = count_bins;
  while (fits > 1 && above + hot[fits - 1] + cold[fits - 1] <= room) {
    --fits;
    above += hot[fits] + cold[fits];
  }
  if (fits == count_bins) --fits;  // even the highest is too common: some of it
  // 2. of the host's the highest, as many as one step moves
  bounds.from = count_bins;
  while (bounds.from > fits && bounds.come < most) {
    --bounds.from;
    bounds.come += cold[bounds.from];
  }
  bounds.come = std::min<std::uint64_t>(bounds.come, most);
  // 3. for which the lowest leave
  std::uint64_t leave = 0;
  while (bounds.below < bounds.from && bounds.below < fits && leave < 2ull * most)
    leave += hot[bounds.below++];
  return bounds;
}

HitCurve curve_of(const std::uint32_t* hot, const std::uint32_t* cold) {
  double sum = 0;
  for (std::uint32_t count = 1; count < count_bins; ++count)
    sum += static_cast<double>(count) * (hot[count] + cold[count]);
  HitCurve curve;
  double share = 0;
  std::uint64_t rows = 0;
  for (std::uint32_t count = count_bins - 1; count > 0 && sum > 0; --count) {
    if (hot[count] + cold[count] == 0) continue;
    rows += hot[count] + cold[count];
    share += static_cast<double>(count) * (hot[count] + cold[count]) / sum;
    curve.add(rows, share);
  }
  return curve;
}

}  // namespace

kernels::LookupCounts Version::looked_up() const {
  const std::scoped_lock hold(works_lock_);
  kernels::LookupCounts all;
  for (const auto& [key, work] : works_) {
    const kernels::LookupCounts counts = work->told();
    all.keys += counts.keys;
    all.cold += counts.cold;
    all.missing += counts.missing;
    all.bad_offsets += counts.bad_offsets;
  }
  return all;
}

// Whether of late far fewer keys were in device memory than the counts say: other rows are asked
// for than were.
bool Version::misled(const std::uint32_t* hot, const std::uint32_t* cold) {
  const kernels::LookupCounts now = looked_up();
  const std::uint64_t known = (now.keys - now.missing) - (judged_at_.keys - judged_at_.missing);
  if (known <= spec_.capacity / 64) return false;
  const double missed =
      static_cast<double>(now.cold - judged_at_.cold) / static_cast<double>(known);
  judged_at_ = now;
  double of_hot = 0, of_all = 0;
  for (std::uint32_t count = 1; count < count_bins; ++count) {
    of_hot += static_cast<double>(count) * hot[count];
    of_all += static_cast<double>(count) * (hot[count] + cold[count]);
  }
  return 1 - missed < 0.75 * of_hot / std::max(of_all, 1.0);
}

std::uint64_t Version::learn(Bytes bytes_per_second) {
  if (counts_.size() == 0)
    throw EmbeddingError("table '" + spec_.name + "' does not learn: open it with learning on");
  const std::scoped_lock hold(boundary_lock_);
  const std::uint32_t most = spec_.learning.rows_at_once;
  if (!learn_work_) learn_work_ = std::make_unique<LearnWork>(engine_, stream_, most);
  LearnWork& work = *learn_work_;
  vmm::Driver& driver = engine_.driver();
  std::uint32_t* const at = work.device.data();
  std::uint32_t* const seen = work.host.data();

  // 1. how often entries are asked for. The border stays where it is meanwhile; counts and entries
  // may change.
  kernels::count_entries(view_, counts_.data(), {at, at + count_bins}, stream_);
  vmm::check(driver.copy(seen, at, LearnWork::counted * 4, stream_), "read the counts");
  engine_.synchronize(stream_);
  const std::uint64_t hot_rows = view_.hot_rows;
  const auto first_cold = std::ranges::partition(spare_, [&](std::uint32_t position) {
                            return position < hot_rows;
                          }).begin();
  auto hot_spares = static_cast<std::uint64_t>(first_cold - spare_.begin());
  const std::uint64_t room = hot_rows - std::min<std::uint64_t>(hot_rows, most);
  const Bounds bounds = bounds_of(seen, seen + count_bins, room, most);
  if (HitCurve curve = curve_of(seen, seen + count_bins); curve.at(spec_.capacity) > 0) {
    const std::scoped_lock of_curve(curve_lock_);
    curve_ = std::move(curve);
  }
  const std::uint64_t keys = looked_up().keys;
  const bool forget = misled(seen, seen + count_bins);
  const bool halve = forget || keys - halved_at_ >= spec_.learning.halve_every;
  std::uint64_t moved = 0;

  if (bounds.come > 0) {
    // 2. who
    Move* const of_hot = reinterpret_cast<Move*>(at + LearnWork::counted + 2);
    const kernels::Choice choice{bounds.below,
                                 bounds.from,
                                 most,
                                 of_hot,
                                 of_hot + most,
                                 at + LearnWork::counted,
                                 at + LearnWork::counted + 1};
    kernels::choose_moves(view_, counts_.data(), choice, stream_);
    vmm::check(driver.copy(seen + LearnWork::counted, at + LearnWork::counted,
                           (2 + 6ull * most) * 4, stream_),
               "read who moves");
    engine_.synchronize(stream_);
    const std::uint64_t found_hot = std::min(seen[LearnWork::counted], most);
    const std::uint64_t found_cold = std::min(seen[LearnWork::counted + 1], most);
    auto* const leaving = reinterpret_cast<Move*>(seen + LearnWork::counted + 2);
    Move* const coming = leaving + most;

    // 3. where to: into places that nobody is at. As many as come leave, so that there are such
    // places the next time.
    const std::uint64_t up = std::min(found_cold, hot_spares);
    const std::uint64_t cold_spares = spare_.size() - hot_spares;
    const std::uint64_t down =
        std::min({found_hot, cold_spares, most > hot_spares ? most - hot_spares + up : up});
    const auto by_place = [](const Move& a, const Move& b) { return a.from < b.from; };
    tbb::parallel_sort(coming, coming + up, by_place);
    tbb::parallel_sort(leaving, leaving + down, by_place);
    std::sort(spare_.begin(), first_cold);
    std::sort(first_cold, spare_.end());
    std::vector<std::uint32_t> unused;
    for (std::uint64_t i = 0; i < up; ++i) {
      work.moves[i] = coming[i];
      work.moves[i].to = spare_[i];
    }
    for (std::uint64_t i = 0; i < down; ++i) {
      work.moves[up + i] = leaving[i];
      work.moves[up + i].to = spare_[hot_spares + i];
    }
    unused.assign(spare_.begin() + static_cast<long>(up), first_cold);
    unused.insert(unused.end(), first_cold + static_cast<long>(down), spare_.end());

    // 4. move: copy, then point the entries there; what was left is free once those who read it
    // have passed, for whom the next move waits
    const auto count = static_cast<std::uint32_t>(up + down);
    if (count > 0) {
      // A slice at a time, so that look-ups find the link free soon, and no faster than is allowed.
      const auto begin = std::chrono::steady_clock::now();
      for (std::uint32_t first = 0; first < count; first += slice) {
        const std::uint32_t n = std::min(slice, count - first);
        turns_.move(stream_, [&] {
          kernels::copy_rows(view_, work.moves.data() + first, n, stream_);
          kernels::flip_entries(view_, work.moves.data() + first, n, work.left.data() + first,
                                stream_);
        });
        engine_.synchronize(stream_);
        if (bytes_per_second > 0)
          std::this_thread::sleep_until(begin +
                                        std::chrono::nanoseconds(static_cast<std::int64_t>(
                                            static_cast<double>(first + n) * view_.row.stride *
                                            1e9 / static_cast<double>(bytes_per_second))));
      }
      unused.insert(unused.end(), work.left.data(), work.left.data() + count);
      spare_ = std::move(unused);
      moved = count;
      moved_ += count;
    }
  }
  // 5. what was long ago counts less, or nothing
  if (halve) {
    kernels::halve_counts(counts_.data(), view_.entry_count, forget ? 16 : 1, stream_);
    engine_.synchronize(stream_);
    halved_at_ = keys;
  }
  return moved;
}

}  // namespace holdall::embedding
