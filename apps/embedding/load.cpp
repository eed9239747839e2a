// Reading a source into a version: where each row goes, the keys, then the rows, piece by piece.
#include <fmt/format.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_sort.h>

#include <atomic>
#include <cmath>
#include <numeric>

#include "apps/embedding/version.hpp"
#include "kernels/row_on_host.hpp"

namespace holdall::embedding {

namespace {

// How many values of `count` are no number; they become 0 if `mend`.
std::uint64_t check_numbers(RowType type, std::byte* at, std::uint64_t count, bool mend) {
  std::uint64_t bad = 0;
  if (type == RowType::fp32) {
    auto* const values = reinterpret_cast<float*>(at);
    for (std::uint64_t i = 0; i < count; ++i)
      if (std::isnan(values[i])) {
        ++bad;
        if (mend) values[i] = 0;
      }
    return bad;
  }
  const std::uint16_t infinity = type == RowType::fp16 ? 0x7c00 : 0x7f80;
  auto* const values = reinterpret_cast<std::uint16_t*>(at);
  for (std::uint64_t i = 0; i < count; ++i)
    if ((values[i] & 0x7fff) > infinity) {
      ++bad;
      if (mend) values[i] = 0;
    }
  return bad;
}

}  // namespace

// A place for each of the source's rows, nowhere for one that a later row of the same key replaces;
// empty: its number.
std::vector<std::uint32_t> Version::places_of(const Source& source,
                                              std::vector<std::uint64_t>& keys) {
  if (view_.entries == nullptr) return {};
  std::vector<std::uint32_t> places(rows_);
  // 1. the order: most wanted first
  std::vector<std::uint32_t> order(rows_);
  std::iota(order.begin(), order.end(), 0);
  if (!spec_.frequencies.empty())
    tbb::parallel_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      const std::uint64_t of_a = spec_.frequencies[a];
      const std::uint64_t of_b = spec_.frequencies[b];
      return of_a != of_b ? of_a > of_b : a < b;
    });
  // Neighbours by rank lie on different devices, so that all share the most wanted: chunks in a row
  // as many as there are devices are filled at once.
  const std::uint64_t in_chunk = store_->layout().chunk / view_.row.stride;
  const auto devices = static_cast<std::uint64_t>(engine_.devices());
  const std::uint64_t together = in_chunk * devices;
  for (std::uint64_t i = 0; i < rows_; ++i) {
    const std::uint64_t first = i / together * together;
    const std::uint64_t place =
        first + together <= rows_ ? first + (i - first) % devices * in_chunk + (i - first) / devices
                                  : i;
    places[order[i]] = static_cast<std::uint32_t>(place);
  }
  if (!source.info().keyed) return places;

  // 2. the keys, and which come twice
  keys.resize(rows_);
  source.read_keys(0, rows_, keys.data());
  for (const std::uint64_t key : keys)
    if (spec_.keys == Keys::hashed ? key >= kernels::erased_slot : key >= spec_.capacity)
      throw EmbeddingError(fmt::format(
          "table '{}' from {}: key {} is {}", spec_.name, source.info().name, key,
          spec_.keys == Keys::hashed
              ? "one of the two highest numbers, which no row can have"
              : fmt::format("not below the capacity of {}: raise it, or use hashed keys",
                            spec_.capacity)));
  tbb::parallel_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return keys[a] != keys[b] ? keys[a] < keys[b] : a < b;
  });
  for (std::uint64_t i = 0; i + 1 < rows_; ++i) {
    if (keys[order[i]] != keys[order[i + 1]]) continue;
    if (spec_.duplicates == Duplicates::refuse)
      throw EmbeddingError(fmt::format("table '{}' from {}: rows {} and {} have the same key, {}",
                                       spec_.name, source.info().name, order[i], order[i + 1],
                                       keys[order[i]]));
    places[order[i]] = kernels::nowhere;
    ++duplicates_;
  }
  return places;
}

void Version::load_keys(const std::vector<std::uint64_t>& keys,
                        const std::vector<std::uint32_t>& places) {
  entries_.fill(engine_, streams_each_.all(), 0xff);

  // 1. entries
  if (keys.empty()) {
    engine_.load(entries_.range(), 0, std::span<const std::uint32_t>(places));
  } else {
    constexpr std::uint64_t piece = 1 << 20;
    const std::uint64_t most = std::min<std::uint64_t>(piece, rows_);
    const HostArray<std::uint64_t> staged_keys = engine_.host_array<std::uint64_t>(most, "keys");
    const HostArray<std::uint32_t> staged_places =
        engine_.host_array<std::uint32_t>(most, "places");
    for (std::uint64_t first = 0; first < rows_; first += piece) {
      std::uint64_t n = 0;
      for (std::uint64_t i = first; i < std::min(rows_, first + piece); ++i) {
        if (places[i] == kernels::nowhere) continue;
        staged_keys[n] = keys[i];
        staged_places[n++] = places[i];
      }
      kernels::assign(view_, staged_keys.data(), staged_places.data(), n, stream_);
      engine_.synchronize(stream_);
    }
  }

  // 2. the places that are left
  std::vector<bool> used(spec_.capacity);
  for (const std::uint32_t place : places)
    if (place != kernels::nowhere) used[place] = true;
  std::vector<std::uint32_t> left;
  for (std::uint64_t place = spec_.capacity; place-- > 0;)
    if (!used[place]) left.push_back(static_cast<std::uint32_t>(place));
  const std::uint64_t tallies[3] = {left.size(), 0, 0};
  if (!left.empty()) engine_.load(free_.range(), 0, std::span<const std::uint32_t>(left));
  engine_.load(tallies_.range(), 0, std::span<const std::uint64_t>(tallies));
}

void Version::load(const Source& source, const std::vector<std::uint32_t>& places) {
  const SourceInfo& info = source.info();
  const std::uint64_t row = std::uint64_t{info.dim} * kernels::element_bytes(info.type);
  const std::uint64_t piece =
      std::clamp<std::uint64_t>((Bytes{16} << 20) / row, 1, std::max<std::uint64_t>(rows_, 1));
  const HostArray<std::byte> staged =
      engine_.host_array<std::byte>(piece * row, "rows of a source");
  const HostArray<std::uint32_t> list =
      engine_.host_array<std::uint32_t>(64 + 2 * piece, "places of rows");
  std::atomic<std::uint64_t> bad{0};
  for (std::uint64_t first = 0; first < rows_; first += piece) {
    const std::uint64_t n = std::min(piece, rows_ - first);

    // 1. read, check, and put the cold ones where they belong
    constexpr std::uint64_t grain = 1024;
    tbb::parallel_for(std::uint64_t{0}, (n + grain - 1) / grain, [&](std::uint64_t part) {
      const std::uint64_t begin = part * grain;
      const std::uint64_t end = std::min(n, begin + grain);
      std::byte* const at = staged.data() + begin * row;
      source.read_rows(first + begin, end - begin, at);
      if (spec_.not_a_number != NotANumber::allow)
        bad += check_numbers(info.type, at, (end - begin) * info.dim,
                             spec_.not_a_number == NotANumber::zero);
      for (std::uint64_t i = begin; i < end; ++i) {
        const std::uint32_t place =
            places.empty() ? static_cast<std::uint32_t>(first + i) : places[first + i];
        list[64 + i] = place;
        list[64 + piece + i] = static_cast<std::uint32_t>(i);
        if (place == kernels::nowhere || place < view_.hot_rows) continue;
        const kernels::RowAt to = view_.cold_at(place);
        kernels::convert_row(info.type, staged.data() + i * row, to.type, to.at, info.dim);
        list[64 + i] = kernels::nowhere;
      }
    });
    if (bad > 0 && spec_.not_a_number == NotANumber::refuse)
      throw EmbeddingError(fmt::format(
          "table '{}' from {}: {} values among rows {} to {} are no numbers; allow them, or have "
          "them read as 0",
          spec_.name, info.name, bad.load(), first, first + n - 1));

    // 2. the hot ones are fetched by the device
    list[0] = static_cast<std::uint32_t>(n);
    kernels::write_rows(
        view_,
        {list.data(), list.data() + 64, list.data() + 64 + piece, static_cast<std::uint32_t>(n)},
        {staged.data(), info.type, row}, stream_);
    engine_.synchronize(stream_);
  }
}

}  // namespace holdall::embedding
