#include "engine/need.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/error.hpp"
#include "engine/range.hpp"

namespace holdall {

namespace {

// Two needs of the same chunk become the one that serves both.
Access::Kind both(Access::Kind a, Access::Kind b) {
  if (a == b) return a;
  return writes(a) || writes(b) ? Access::write : Access::read;
}

}  // namespace

void merge(std::vector<Need>& needs) {
  if (needs.size() < 2) return;
  std::sort(needs.begin(), needs.end(), [](const Need& a, const Need& b) {
    return a.range->id != b.range->id ? a.range->id < b.range->id : a.run.first < b.run.first;
  });
  std::size_t last = 0;
  for (std::size_t i = 1; i < needs.size(); ++i) {
    Need& into = needs[last];
    const Need& from = needs[i];
    const std::uint64_t end = into.run.first + into.run.count;
    const bool overlaps = from.range == into.range && from.run.first < end;
    const bool adjoins = from.range == into.range && from.run.first == end && from.kind == into.kind;
    if (overlaps || adjoins) {
      into.run.count = std::max(end, from.run.first + from.run.count) - into.run.first;
      into.kind = both(into.kind, from.kind);
    } else {
      needs[++last] = from;
    }
  }
  needs.resize(last + 1);
}

void append_needs(const Access& access, std::vector<Need>& needs) {
  RangeState* const range = access.range;
  if (!range) throw InvalidAccess("an access names no range: reserve one first");
  if (range->dropped) throw RangeDropped(fmt::format("the range '{}' was dropped", range->name));
  if (writes(access.kind) && !range->writable)
    throw InvalidAccess(fmt::format(
        "'{}' is backed by a read-only file and can't be written: open its backing as writable",
        range->name));
  if (access.kind == Access::in_place && range->cold != Cold::host_mapped)
    throw InvalidAccess(fmt::format(
        "'{}' is not host-mapped, so an in_place access can't read its cold chunks: reserve it with "
        "cold = Cold::host_mapped, or use read",
        range->name));
  if (access.chunks) {
    if (access.chunks->size() != range->chunks)
      throw InvalidAccess(fmt::format("a set of {} chunks is none of '{}', which has {}",
                                      access.chunks->size(), range->name, range->chunks));
    for (const ChunkRun run : access.chunks->runs()) needs.push_back({range, run, access.kind});
    return;
  }
  if (access.first > range->bytes || access.bytes > range->bytes - access.first)
    throw InvalidAccess(
        fmt::format("{} bytes from byte {} on are not within '{}', which has {} bytes",
                    access.bytes, access.first, range->name, range->bytes));
  if (access.bytes == 0) return;
  const Bytes size = range->chunk_bytes;
  const Bytes end = access.first + access.bytes;
  std::uint64_t begin_chunk = access.first / size;
  std::uint64_t end_chunk = (end + size - 1) / size;
  if (access.kind == Access::overwrite) {
    // Chunks at the edges that are covered in part keep the rest of their contents.
    if (access.first % size) {
      needs.push_back({range, {begin_chunk, 1}, Access::write});
      ++begin_chunk;
    }
    if (end % size && end != range->bytes && end_chunk > begin_chunk) {
      --end_chunk;
      needs.push_back({range, {end_chunk, 1}, Access::write});
    }
  }
  if (end_chunk > begin_chunk)
    needs.push_back({range, {begin_chunk, end_chunk - begin_chunk}, access.kind});
}

}  // namespace holdall
