#include "apps/embedding/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "apps/embedding/error.hpp"
#include "apps/embedding/resident.hpp"
#include "kernels/pool.hpp"
#include "kernels/table.hpp"

namespace holdall::embedding {

namespace {

constexpr std::uint64_t most_rows = kernels::first_staged - 2;  // what a position can say

// A power of two, and such that a table has some dozens of chunks.
Bytes chunk_for(Bytes bytes) {
  return std::bit_floor(std::clamp<Bytes>(bytes / 64, Bytes{2} << 20, Bytes{64} << 20));
}

}  // namespace

RowsLayout rows_layout(const std::string& name, kernels::RowLayout row, kernels::RowLayout cold_row,
                       std::uint64_t positions, Bytes chunk) {
  const Bytes bytes = std::max<Bytes>(positions * row.stride, 1);
  RowsLayout layout{row, cold_row, positions, chunk > 0 ? chunk : chunk_for(bytes), 0};
  layout.chunks = (bytes + layout.chunk - 1) / layout.chunk;
  if (row.stride > layout.chunk)
    throw EmbeddingError(fmt::format("rows of '{}' take {} each, more than a chunk of {}", name,
                                     to_string(Bytes{row.stride}), to_string(layout.chunk)));
  return layout;
}

TableSpec completed(TableSpec spec, const SourceInfo& source) {
  const auto refuse = [&](const std::string& why) {
    throw EmbeddingError(fmt::format("table '{}' from {}: {}", spec.name, source.name, why));
  };
  if (source.dim == 0) refuse("the source's rows are empty");
  if (spec.dim == 0) spec.dim = source.dim;
  if (spec.dim != source.dim)
    refuse(fmt::format("the source's rows have {} elements, the table is to have {}", source.dim,
                       spec.dim));
  if (spec.capacity == 0) spec.capacity = source.rows;
  if (spec.capacity < source.rows)
    refuse(fmt::format("the source has {} rows, more than the capacity of {}: raise it",
                       source.rows, spec.capacity));
  if (spec.capacity == 0) refuse("no rows and no capacity for any");
  if (spec.capacity > most_rows)
    refuse(fmt::format("{} rows are more than a table can have, {}: split it", spec.capacity,
                       most_rows));
  if (spec.keys == Keys::hashed && !source.keyed)
    refuse("the source has no keys, but the table is to be hashed: use dense ids");
  if (spec.cold_type && *spec.cold_type != spec.type &&
      kernels::element_bytes(*spec.cold_type) >= kernels::element_bytes(spec.type))
    refuse(
        "rows on the host are to be of a narrower type than those in device memory, or the same");
  if (!spec.frequencies.empty() && spec.frequencies.size() != source.rows)
    refuse(
        fmt::format("there are {} frequencies for {} rows", spec.frequencies.size(), source.rows));
  if (spec.unknown == Unknown::fallback && spec.fallback.size() != spec.dim)
    refuse(fmt::format("the fallback row has {} elements instead of {}", spec.fallback.size(),
                       spec.dim));
  if (!std::has_single_bit(spec.learning.one_in))
    refuse(fmt::format("learning counts one key in {}, which is no power of two",
                       spec.learning.one_in));
  if (spec.learning.rows_at_once == 0)
    spec.learning.rows_at_once =
        static_cast<std::uint32_t>(std::clamp<std::uint64_t>(spec.capacity / 128, 64, 1 << 18));
  spec.learning.rows_at_once = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(spec.learning.rows_at_once, spec.capacity / 16 + 1));
  if (spec.learning.halve_every == 0)
    spec.learning.halve_every = std::max<std::uint64_t>(8 * spec.capacity, 1 << 20);
  return spec;
}

TableLayout layout_of(const TableSpec& spec, const SourceInfo& source) {
  TableLayout layout;
  layout.spares = spec.learning.on ? 2ull * spec.learning.rows_at_once : 0;
  layout.mapped = spec.learning.on || !spec.frequencies.empty() || source.keyed ||
                  spec.keys == Keys::hashed || spec.capacity > source.rows;
  layout.entry_count =
      spec.keys == Keys::hashed ? std::bit_ceil(spec.capacity + spec.capacity / 2) : spec.capacity;
  layout.rows = rows_layout(spec.name, kernels::layout_of(spec.type, spec.dim),
                            kernels::layout_of(spec.cold_type.value_or(spec.type), spec.dim),
                            spec.capacity + layout.spares, spec.chunk);
  layout.overhead = Resident<std::uint64_t>::bytes_for(3);
  if (layout.mapped)
    layout.overhead += Resident<std::uint32_t>::bytes_for(layout.entry_count) +
                       Resident<std::uint32_t>::bytes_for(spec.capacity);
  if (spec.keys == Keys::hashed)
    layout.overhead += Resident<std::uint64_t>::bytes_for(layout.entry_count);
  if (spec.learning.on)
    layout.overhead += Resident<std::uint32_t>::bytes_for((layout.entry_count + 1) / 2);
  if (spec.unknown == Unknown::fallback) layout.overhead += Resident<float>::bytes_for(spec.dim);
  return layout;
}

}  // namespace holdall::embedding
