// Changes to an embedding table: rows written, keys inserted and erased, rows moved. On a stream of
// either driver; none waits. Only `copy_rows` and `flip_entries` may run beside look-ups.
#pragma once

#include <cstdint>

#include "engine/vmm/stream.hpp"
#include "kernels/lookup.hpp"

namespace holdall::kernels {

// Rows come from here: fp32, fp16 or bf16; row i at `stride` bytes times i.
struct RowsIn {
  const void* rows = nullptr;
  RowType type = RowType::fp32;
  std::uint64_t stride = 0;
};

// Positions that nobody uses.
struct FreePlaces {
  std::uint32_t* places = nullptr;
  std::uint64_t* count = nullptr;
  std::uint64_t* refused = nullptr;  // keys that found no place, or no slot
};

// list.positions[i] and list.which[i] of every key i; `unknown` counts those that are nowhere.
void find(const TableView& table, const std::uint64_t* keys, std::uint64_t count,
          const ColdList& list, std::uint64_t* unknown, Stream stream);
// Writes rows[which[i]] at positions[i] of a sorted list; of equal positions the last wins.
void write_rows(const TableView& table, const ColdList& sorted, const RowsIn& rows, Stream stream);
// Gives every key a slot, if hashed, and a place; what it finds none for stays unknown.
void insert(const TableView& table, const std::uint64_t* keys, std::uint64_t count,
            const FreePlaces& free, Stream stream);
// Gives keys that differ these places.
void assign(const TableView& table, const std::uint64_t* keys, const std::uint32_t* places,
            std::uint64_t count, Stream stream);
void erase(const TableView& table, const std::uint64_t* keys, std::uint64_t count,
           const FreePlaces& free, Stream stream);

// A row to be moved, if it still is where it was.
struct Move {
  std::uint32_t entry = 0;
  std::uint32_t from = 0;
  std::uint32_t to = 0;
};
void copy_rows(const TableView& table, const Move* moves, std::uint32_t count, Stream stream);
// Copies the rows of positions [first, first + count) from the host to device memory (`up`), or the
// other way, to the same positions.
void cross_rows(const TableView& table, std::uint32_t first, std::uint32_t count, bool up,
                Stream stream);
// Points the entries at the copies. left[i]: the place of move i that is free once those who may
// still read it have passed.
void flip_entries(const TableView& table, const Move* moves, std::uint32_t count,
                  std::uint32_t* left, Stream stream);

}  // namespace holdall::kernels
