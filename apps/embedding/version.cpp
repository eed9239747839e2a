#include "apps/embedding/version.hpp"

#include <fmt/format.h>
#include <tbb/parallel_sort.h>

#include <algorithm>
#include <bit>

#include "apps/embedding/layout.hpp"
#include "apps/embedding/learn_work.hpp"

namespace holdall::embedding {

Version::Version(Engine& engine, const TableSpec& spec, const Source& source,
                 std::shared_ptr<Streams> streams)
    : engine_(engine),
      spec_(completed(spec, source.info())),
      streams_(std::move(streams)),
      streams_each_(streams_),
      stream_(streams_each_[0]),
      rows_(source.info().rows),
      turns_(engine.driver(), engine.devices()),
      curve_(rows_) {
  // 1. room: a place for each row, and some that learning moves rows to
  check_reach(engine, spec_.name);
  const std::vector<Stream>& all = streams_each_.all();
  const TableLayout layout = layout_of(spec_, source.info());
  const std::uint64_t spares = layout.spares;
  store_ = std::make_unique<RowStore>(engine, all, spec_.name, layout.rows, spec_.memory);
  view_.row = layout.rows.row;
  view_.cold_row = layout.rows.cold_row;
  view_.hot = store_->hot();
  view_.cold = store_->cold();
  view_.hot_rows = store_->hot_rows();
  all_hot_ = view_.hot_rows == store_->positions();
  view_.moving = spec_.learning.on;
  view_.entry_count = layout.entry_count;
  if (spec_.keys == Keys::hashed) {
    keys_ = Resident<std::uint64_t>(engine, all, view_.entry_count, spec_.name + " keys");
    keys_.fill(engine, all, 0xff);
    view_.keys = keys_.data();
  }
  if (layout.mapped) {
    entries_ = Resident<std::uint32_t>(engine, all, view_.entry_count, spec_.name + " entries");
    free_ = Resident<std::uint32_t>(engine, all, spec_.capacity, spec_.name + " free places");
    view_.entries = entries_.data();
  }
  tallies_ = Resident<std::uint64_t>(engine, all, 3, spec_.name + " tallies");
  if (spec_.learning.on)
    counts_ =
        Resident<std::uint32_t>(engine, all, (view_.entry_count + 1) / 2, spec_.name + " counts");
  if (spec_.unknown == Unknown::fallback) {
    fallback_ = Resident<float>(engine, all, spec_.dim, spec_.name + " fallback");
    engine.load(fallback_.range(), 0, std::span<const float>(spec_.fallback));
    view_.fallback = fallback_.data();
  }

  // 2. where each row goes, and the keys that lead there
  std::vector<std::uint64_t> keys;
  const std::vector<std::uint32_t> places = places_of(source, keys);
  if (layout.mapped) load_keys(keys, places);
  keys = {};

  // 3. the rows
  load(source, places);
  engine.synchronize(stream_);
  for (std::uint64_t i = 0; i < spares; ++i)
    spare_.push_back(static_cast<std::uint32_t>(i % 2 == 0 ? spec_.capacity + i / 2
                                                           : spec_.capacity + spares - 1 - i / 2));
  if (!spec_.frequencies.empty()) {
    std::vector<std::uint64_t> sorted = std::move(spec_.frequencies);
    tbb::parallel_sort(sorted.begin(), sorted.end(), std::greater<>());
    curve_ = HitCurve(sorted);
    spec_.frequencies = {};
  }
  cold_share_ = 1 - curve_.at(store_->hot_rows());

  // 4. what is fast here
  measure_costs(engine_, stream_, streams_, view_, store_->positions(), costs_);
}

Version::~Version() { turns_.drain(); }

int Version::device_of(Stream stream) const {
  int device = 0;
  if (engine_.devices() == 1) return device;
  vmm::check(engine_.driver().device_of(stream, device), "find the device of a look-up's stream");
  if (device >= engine_.devices())
    throw EmbeddingError(
        fmt::format("table '{}' was called on a stream of device {}; its engine uses {}",
                    spec_.name, device, engine_.devices()));
  return device;
}

StreamWork& Version::work_of(Stream stream) {
  const int device = device_of(stream);
  const std::scoped_lock hold(works_lock_);
  auto& work = works_[{stream.handle(), device}];
  if (!work) work = std::make_unique<StreamWork>(engine_, stream, device, view_.cold_row, streams_);
  return *work;
}

kernels::FreePlaces Version::free_places() {
  return {free_.data(), tallies_.data(), tallies_.data() + 1};
}

double Version::predicted_hit_rate(Bytes memory) const {
  const std::scoped_lock hold(curve_lock_);
  return curve_.at(store_->hot_rows(store_->chunks_in(memory)));
}

void Version::expect_as(const Version& before) {
  if (view_.entries == nullptr || before.rows_ != rows_) return;
  const std::scoped_lock hold(curve_lock_, before.curve_lock_);
  curve_ = before.curve_;
  cold_share_ = 1 - curve_.at(store_->hot_rows());
}

double Version::set_budget(Bytes memory) {
  store_->check_budget(memory);
  const std::scoped_lock hold(boundary_lock_);
  const std::uint64_t to = store_->chunks_in(memory);
  while (store_->hot_chunks() != to) {
    const std::uint64_t now = store_->hot_chunks();
    // A row across the border needs its chunk's neighbour on the host: one chunk at a time keeps
    // that true.
    const std::uint64_t next = to > now ? now + 1 : now - 1;
    store_->make_room(next);
    {
      const std::unique_lock writers = turns_.hold_writers(stream_);
      engine_.synchronize(stream_);
      store_->copy_between(next);
      turns_.change([&] { view_.hot_rows = store_->hot_rows(next); });
      all_hot_ = next == store_->chunks();
    }
    turns_.drain();
    store_->settle(next);
  }
  const double rate = predicted_hit_rate(memory);
  cold_share_ = 1 - rate;
  return rate;
}

void Version::check(Stream stream) {
  StreamWork& work = work_of(stream);
  engine_.synchronize(stream);
  const std::scoped_lock hold(work.lock);
  (void)work.told();
  work.ask(stream);
  engine_.synchronize(stream);
  const kernels::LookupCounts counts = work.told();
  const std::uint64_t missing = counts.missing - work.checked_missing;
  const std::uint64_t offsets = counts.bad_offsets - work.checked_offsets;
  work.checked_missing = counts.missing;
  work.checked_offsets = counts.bad_offsets;
  std::uint64_t tallies[3] = {};
  {
    const std::unique_lock writers = turns_.hold_writers(stream_);
    engine_.synchronize(stream_);
    engine_.store(tallies_.range(), 0, std::span<std::uint64_t>(tallies));
  }
  const std::uint64_t refused = tallies[1] - refused_.exchange(tallies[1]);
  if (offsets > 0)
    throw EmbeddingError(fmt::format(
        "table '{}': {} bags have offsets that decrease or pass the end; they were taken as empty",
        spec_.name, offsets));
  if (missing > 0 && spec_.unknown == Unknown::error)
    throw EmbeddingError(fmt::format(
        "table '{}' was asked for {} keys that it does not have; ask for the mask of the found "
        "ones, or open it with another answer for unknown keys",
        spec_.name, missing));
  if (refused > 0)
    throw EmbeddingError(fmt::format(
        "table '{}' had no room for {} new keys: raise its capacity, now {}, or erase some",
        spec_.name, refused, spec_.capacity));
}

void Version::add_stats(TableStats& stats) const {
  stats.rows = rows_;
  stats.capacity = spec_.capacity;
  stats.duplicates = duplicates_;
  stats.refused = refused_;
  stats.moved += moved_;
  stats.device_bytes = store_->device_bytes();
  stats.host_bytes = store_->host_bytes();
  stats.overhead_bytes = entries_.bytes() + keys_.bytes() + free_.bytes() + tallies_.bytes() +
                         counts_.bytes() + fallback_.bytes();
  {
    const std::scoped_lock of_curve(curve_lock_);
    stats.predicted_hit_rate = curve_.at(store_->hot_rows());
  }
  const kernels::LookupCounts counts = looked_up();
  stats.keys += counts.keys;
  stats.cold += counts.cold;
  stats.missing += counts.missing;
  stats.bad_offsets += counts.bad_offsets;
}

}  // namespace holdall::embedding
