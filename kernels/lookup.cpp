#include "kernels/lookup.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_sort.h>

#include <algorithm>

#include "kernels/crew.hpp"
#include "kernels/gpu.hpp"
#include "kernels/on_host.hpp"
#include "kernels/row_on_host.hpp"

namespace holdall::kernels {
namespace {

constexpr LoadOnHost load;
constexpr std::uint64_t grain = 256;  // keys of one task

template <typename Body>  // body(begin, end)
void in_pieces(std::uint64_t count, const Body& body) {
  tbb::parallel_for(tbb::blocked_range<std::uint64_t>(0, count, grain),
                    [&](const auto& piece) { body(piece.begin(), piece.end()); });
}

void count_key(const Counting& counting, std::uint64_t i, std::uint64_t entry) {
  std::atomic_ref word(counting.counts[entry / 2]);
  const int half = entry % 2 != 0 ? 16 : 0;
  const std::uint32_t count = word.load(std::memory_order_relaxed) >> half & 0xffff;
  if (const std::uint32_t weight = weight_of(counting, i, count); weight > 0)
    word.fetch_add(weight << half, std::memory_order_relaxed);
}

// Where key i is; says what was asked to be said of it.
std::uint32_t find_one(const TableView& table, const LookupIn& in, std::uint64_t i,
                       LookupCounts& seen) {
  const std::uint64_t entry = entry_of(table, in.keys[i], load);
  const std::uint32_t position = position_of(table, entry, load);
  const bool known = position != nowhere;
  if (in.found != nullptr) in.found[i] = known;
  if (known && in.counting.counts != nullptr) count_key(in.counting, i, entry);
  if (!known) {
    ++seen.missing;
    if (in.missing != nullptr)
      in.missing[1 + std::atomic_ref(in.missing[0]).fetch_add(1)] = static_cast<std::uint32_t>(i);
  }
  if (known && position >= table.hot_rows) ++seen.cold;
  return position;
}

void add(LookupCounts* to, const LookupCounts& seen) {
  if (to == nullptr) return;
  if (seen.keys > 0) std::atomic_ref(to->keys).fetch_add(seen.keys);
  if (seen.cold > 0) std::atomic_ref(to->cold).fetch_add(seen.cold);
  if (seen.missing > 0) std::atomic_ref(to->missing).fetch_add(seen.missing);
}

void write_row(const TableView& table, RowAt row, const RowsOut& out, std::uint64_t i) {
  if (table.row.dim == 0) return;
  auto* const to = static_cast<std::byte*>(out.rows) + i * out.stride;
  if (row.at != nullptr) {
    convert_row(row.type, row.at, out.type, to, table.row.dim);
  } else if (table.fallback != nullptr) {
    convert_row(RowType::fp32, reinterpret_cast<const std::byte*>(table.fallback), out.type, to,
                table.row.dim);
  } else {
    std::memset(to, 0, row_bytes(out.type, table.row.dim));
  }
}

void write_row_at(const TableView& table, std::uint32_t position, const RowsOut& out,
                  std::uint64_t i) {
  write_row(table, position == nowhere ? RowAt() : table.at(position), out, i);
}

std::uint32_t listed_in(const ColdList& list) { return std::min(*list.count, list.capacity); }

}  // namespace

void gather(const TableView& table, const LookupIn& in, const RowsOut& out, Stream stream) {
  if (!stream.on_host()) return gpu::gather(table, in, out, stream);
  vmm::launch(stream, [=] {
    if (in.missing != nullptr) in.missing[0] = 0;
    in_pieces(in.count, [&](std::uint64_t begin, std::uint64_t end) {
      LookupCounts seen{.keys = end - begin};
      for (std::uint64_t i = begin; i < end; ++i)
        write_row_at(table, find_one(table, in, i, seen), out, i);
      add(in.counts, seen);
    });
  });
}

void locate(const TableView& table, const LookupIn& in, std::uint32_t* positions,
            const ColdList& list, Stream stream) {
  if (!stream.on_host()) return gpu::locate(table, in, positions, list, stream);
  vmm::launch(stream, [=] {
    *list.count = 0;
    std::fill_n(list.positions, list.capacity, nowhere);
    if (in.missing != nullptr) in.missing[0] = 0;
    in_pieces(in.count, [&](std::uint64_t begin, std::uint64_t end) {
      LookupCounts seen{.keys = end - begin};
      for (std::uint64_t i = begin; i < end; ++i) {
        positions[i] = find_one(table, in, i, seen);
        if (positions[i] == nowhere || positions[i] < table.hot_rows) continue;
        const std::uint32_t at = std::atomic_ref(*list.count).fetch_add(1);
        if (at >= list.capacity) continue;
        list.positions[at] = positions[i];
        list.which[at] = static_cast<std::uint32_t>(i);
        positions[i] = listed;
      }
      add(in.counts, seen);
    });
  });
}

void gather_hot(const TableView& table, const std::uint32_t* positions, std::uint64_t count,
                const RowsOut& out, Stream stream) {
  if (!stream.on_host()) return gpu::gather_hot(table, positions, count, out, stream);
  vmm::launch(stream, [=] {
    in_pieces(count, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i)
        if (positions[i] != listed) write_row_at(table, positions[i], out, i);
    });
  });
}

Bytes sort_list_bytes(std::uint32_t capacity, Stream stream) {
  if (!stream.on_host()) return gpu::sort_list_bytes(capacity);
  return capacity * sizeof(std::uint64_t);
}

void sort_list(const ColdList& list, const ColdList& sorted, std::uint32_t low_bit, void* workspace,
               Stream stream) {
  if (!stream.on_host()) return gpu::sort_list(list, sorted, low_bit, workspace, stream);
  vmm::launch(stream, [=] {
    // As numbers of position and which, so that an order of numbers is a stable one.
    const std::uint32_t count = listed_in(list);
    auto* const both = static_cast<std::uint64_t*>(workspace);
    for (std::uint32_t i = 0; i < count; ++i)
      both[i] = std::uint64_t{list.positions[i]} << 32 | list.which[i];
    tbb::parallel_sort(both, both + count);
    for (std::uint32_t i = 0; i < count; ++i) {
      sorted.positions[i] = static_cast<std::uint32_t>(both[i] >> 32);
      sorted.which[i] = static_cast<std::uint32_t>(both[i]);
    }
    *sorted.count = count;
  });
}

void gather_cold(const TableView& table, const ColdList& list, std::uint32_t part,
                 std::uint32_t parts, const RowsOut& out, std::uint32_t blocks, Stream stream) {
  if (!stream.on_host()) return gpu::gather_cold(table, list, part, parts, out, blocks, stream);
  vmm::launch(stream, [=] {
    const std::uint64_t count = listed_in(list);
    const std::uint64_t first = count * part / parts;
    in_pieces(count - first, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = first + begin; i < first + end; ++i)
        write_row(table, table.at(list.positions[i]), out, list.which[i]);
    });
  });
}

void stage_cold(const TableView& table, const ColdList& list, std::byte* staged, std::uint32_t part,
                std::uint32_t parts) {
  const std::uint64_t count = listed_in(list);
  const std::uint64_t first = count * part / parts;
  const std::uint64_t last = count * (part + 1) / parts;
  const std::uint32_t stride = table.cold_row.stride;
  constexpr std::uint64_t ahead = 12;  // rows asked for before their turn
  const auto gather = [&](std::uint64_t begin, std::uint64_t end) {
    const auto prefetch = [&](std::uint64_t i) {
      const std::byte* const soon = table.cold_at(list.positions[i]).at;
      for (std::uint32_t byte = 0; byte < stride; byte += 64) __builtin_prefetch(soon + byte);
    };
    for (std::uint64_t i = begin; i < std::min(begin + ahead, end); ++i) prefetch(i);
    for (std::uint64_t i = begin; i < end; ++i) {
      if (i + ahead < end) prefetch(i + ahead);
      std::memcpy(staged + i * stride, table.cold_at(list.positions[i]).at, stride);
    }
  };
  // Waking all cores pays from some 300 us of work on.
  constexpr std::uint64_t many = 32'768, together = 64;  // rows; those of a piece, at least
  const std::uint64_t rows = last - first;
  if (rows > many)
    return in_pieces(
        rows, [&](std::uint64_t begin, std::uint64_t end) { gather(first + begin, first + end); });
  Crew& crew = Crew::of_this_machine();
  const auto pieces = static_cast<std::uint32_t>(
      std::min<std::uint64_t>((rows + together - 1) / together, 4 * (crew.size() + 1)));
  crew.run(pieces, [&](std::uint32_t piece) {
    gather(first + rows * piece / pieces, first + rows * (piece + 1) / pieces);
  });
}

void gather_staged(const TableView& table, const ColdList& list, std::byte* staged,
                   std::uint32_t part, std::uint32_t parts, const RowsOut& out, Stream stream) {
  if (!stream.on_host()) return gpu::gather_staged(table, list, staged, part, parts, out, stream);
  vmm::launch(stream, [=] {
    const std::uint64_t count = listed_in(list);
    const std::uint64_t first = count * part / parts;
    in_pieces(count * (part + 1) / parts - first, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = first + begin; i < first + end; ++i)
        write_row(table, table.cold_in(staged, i), out, list.which[i]);
    });
  });
}

}  // namespace holdall::kernels
