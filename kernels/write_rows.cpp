#include "kernels/write_rows.hpp"

#include <tbb/parallel_for.h>

#include "kernels/gpu.hpp"
#include "kernels/on_host.hpp"
#include "kernels/row_on_host.hpp"

namespace holdall::kernels {
namespace {

constexpr LoadOnHost load;
constexpr std::uint32_t taken = nowhere - 1;  // an entry that is about to get a place

void copy_row(const TableView& table, RowAt from, RowAt to) {
  convert_row(from.type, from.at, to.type, to.at, table.row.dim);
}

// The slot of a key, made if there is none; entry_count: all are used.
std::uint64_t make_entry(const TableView& table, std::uint64_t key) {
  if (table.keys == nullptr) return key < table.entry_count ? key : table.entry_count;
  if (key >= erased_slot) return table.entry_count;
  const std::uint64_t mask = table.entry_count - 1;
  for (;;) {
    std::uint64_t place = table.entry_count;
    std::uint64_t slot = mixed(key) & mask;
    for (std::uint64_t i = 0; i < table.entry_count; ++i, slot = (slot + 1) & mask) {
      const std::uint64_t there = load(table.keys + slot);
      if (there == key) return slot;
      if (there >= erased_slot && place == table.entry_count) place = slot;
      if (there == empty_slot) break;
    }
    if (place == table.entry_count) return place;
    std::atomic_ref at(table.keys[place]);
    std::uint64_t before = load(table.keys + place);
    if (before >= erased_slot && at.compare_exchange_strong(before, key)) return place;
  }
}

}  // namespace

void find(const TableView& table, const std::uint64_t* keys, std::uint64_t count,
          const ColdList& list, std::uint64_t* unknown, Stream stream) {
  if (!stream.on_host()) return gpu::find(table, keys, count, list, unknown, stream);
  vmm::launch(stream, [=] {
    *list.count = static_cast<std::uint32_t>(count);
    tbb::parallel_for(std::uint64_t{0}, count, [&](std::uint64_t i) {
      list.positions[i] = position_of(table, entry_of(table, keys[i], load), load);
      list.which[i] = static_cast<std::uint32_t>(i);
      if (list.positions[i] == nowhere) std::atomic_ref(*unknown).fetch_add(1);
    });
  });
}

void write_rows(const TableView& table, const ColdList& sorted, const RowsIn& rows, Stream stream) {
  if (!stream.on_host()) return gpu::write_rows(table, sorted, rows, stream);
  vmm::launch(stream, [=] {
    const std::uint32_t count = *sorted.count;
    tbb::parallel_for(std::uint32_t{0}, count, [&](std::uint32_t i) {
      const std::uint32_t position = sorted.positions[i];
      if (position == nowhere || (i + 1 < count && sorted.positions[i + 1] == position)) return;
      convert_row(rows.type,
                  static_cast<const std::byte*>(rows.rows) + sorted.which[i] * rows.stride,
                  table.at(position).type, table.at(position).at, table.row.dim);
    });
  });
}

void insert(const TableView& table, const std::uint64_t* keys, std::uint64_t count,
            const FreePlaces& free, Stream stream) {
  if (!stream.on_host()) return gpu::insert(table, keys, count, free, stream);
  vmm::launch(stream, [=] {
    tbb::parallel_for(std::uint64_t{0}, count, [&](std::uint64_t i) {
      const std::uint64_t entry = make_entry(table, keys[i]);
      if (entry == table.entry_count) {
        std::atomic_ref(*free.refused).fetch_add(1);
        return;
      }
      std::uint32_t before = nowhere;
      std::atomic_ref at(table.entries[entry]);
      if (!at.compare_exchange_strong(before, taken)) return;
      std::atomic_ref left(*free.count);
      std::uint64_t n = left.load();
      while (n > 0 && !left.compare_exchange_weak(n, n - 1)) {
      }
      if (n == 0) std::atomic_ref(*free.refused).fetch_add(1);
      at.store(n == 0 ? nowhere : free.places[n - 1]);
    });
  });
}

void assign(const TableView& table, const std::uint64_t* keys, const std::uint32_t* places,
            std::uint64_t count, Stream stream) {
  if (!stream.on_host()) return gpu::assign(table, keys, places, count, stream);
  vmm::launch(stream, [=] {
    tbb::parallel_for(std::uint64_t{0}, count, [&](std::uint64_t i) {
      const std::uint64_t entry = make_entry(table, keys[i]);
      if (entry < table.entry_count) std::atomic_ref(table.entries[entry]).store(places[i]);
    });
  });
}

void erase(const TableView& table, const std::uint64_t* keys, std::uint64_t count,
           const FreePlaces& free, Stream stream) {
  if (!stream.on_host()) return gpu::erase(table, keys, count, free, stream);
  vmm::launch(stream, [=] {
    tbb::parallel_for(std::uint64_t{0}, count, [&](std::uint64_t i) {
      const std::uint64_t entry = entry_of(table, keys[i], load);
      if (entry == table.entry_count) return;
      const std::uint32_t place = std::atomic_ref(table.entries[entry]).exchange(nowhere);
      if (place == nowhere) return;
      free.places[std::atomic_ref(*free.count).fetch_add(1)] = place;
      if (table.keys != nullptr) std::atomic_ref(table.keys[entry]).store(erased_slot);
    });
  });
}

void copy_rows(const TableView& table, const Move* moves, std::uint32_t count, Stream stream) {
  if (!stream.on_host()) return gpu::copy_rows(table, moves, count, stream);
  vmm::launch(stream, [=] {
    tbb::parallel_for(std::uint32_t{0}, count, [&](std::uint32_t i) {
      copy_row(table, table.at(moves[i].from), table.at(moves[i].to));
    });
  });
}

void cross_rows(const TableView& table, std::uint32_t first, std::uint32_t count, bool up,
                Stream stream) {
  if (!stream.on_host()) return gpu::cross_rows(table, first, count, up, stream);
  vmm::launch(stream, [=] {
    tbb::parallel_for(std::uint32_t{0}, count, [&](std::uint32_t i) {
      const RowAt hot = table.hot_at(first + i);
      const RowAt cold = table.cold_at(first + i);
      copy_row(table, up ? cold : hot, up ? hot : cold);
    });
  });
}

void flip_entries(const TableView& table, const Move* moves, std::uint32_t count,
                  std::uint32_t* left, Stream stream) {
  if (!stream.on_host()) return gpu::flip_entries(table, moves, count, left, stream);
  vmm::launch(stream, [=] {
    tbb::parallel_for(std::uint32_t{0}, count, [&](std::uint32_t i) {
      std::uint32_t from = moves[i].from;
      const bool moved =
          std::atomic_ref(table.entries[moves[i].entry]).compare_exchange_strong(from, moves[i].to);
      left[i] = moved ? moves[i].from : moves[i].to;
    });
  });
}

}  // namespace holdall::kernels
