// The steps of a look-up. On a stream of either driver; none of them waits.
//
// A whole look-up is `gather` alone (few keys, or nothing is cold), or `locate`, then `gather_hot`
// beside what fetches the cold rows that `locate` listed: `sort_list` and `gather_cold`, or the
// CPU's `stage_cold` and `gather_staged`, or each for a part of the list.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/vmm/stream.hpp"
#include "kernels/table.hpp"

namespace holdall::kernels {

// Rows go here: row i at `stride` bytes times i. fp32, fp16 or bf16.
struct RowsOut {
  void* rows = nullptr;
  RowType type = RowType::fp32;
  std::uint64_t stride = 0;  // bytes, a multiple of the element's
};

struct LookupIn {
  const std::uint64_t* keys = nullptr;
  std::uint64_t count = 0;        // below 2^31
  std::uint8_t* found = nullptr;  // [count], 1 or 0; nullptr: not asked for
  std::uint32_t* missing =
      nullptr;  // [1 + count]: how many, then which of the keys, in any order; nullptr
  LookupCounts* counts = nullptr;
  Counting counting = {};
};

// What `locate` lists of the cold keys. `capacity` of them at most: what is more is gathered with
// the hot ones.
struct ColdList {
  std::uint32_t* count = nullptr;      // to be 0 before; may end above the capacity
  std::uint32_t* positions = nullptr;  // [capacity]; what is not used holds nowhere
  std::uint32_t* which = nullptr;      // [capacity], of the keys
  std::uint32_t capacity = 0;
};

// positions[i] of a key that was listed.
constexpr std::uint32_t listed = 0xFFFF'FFFE;

// All in one. An unknown key (out of range, erased, never inserted) gets the fallback.
void gather(const TableView& table, const LookupIn& in, const RowsOut& out, Stream stream);

// positions[i]: where the row of key i is; `listed` or `nowhere`. Clears the list first.
void locate(const TableView& table, const LookupIn& in, std::uint32_t* positions,
            const ColdList& list, Stream stream);
// The rows of all keys that are not `listed`, and the fallback of those that are nowhere.
void gather_hot(const TableView& table, const std::uint32_t* positions, std::uint64_t count,
                const RowsOut& out, Stream stream);
// Sorts the list by address, to the grain of `1 << low_bit` rows, into `sorted`.
// Stable: of equal ones, the first of the keys comes first. nowhere comes last.
Bytes sort_list_bytes(std::uint32_t capacity, Stream stream);
void sort_list(const ColdList& list, const ColdList& sorted, std::uint32_t low_bit, void* workspace,
               Stream stream);
// The rows of a list, by `blocks` blocks of 256 threads: of `parts` equal parts of it, those from
// `part` on.
void gather_cold(const TableView& table, const ColdList& list, std::uint32_t part,
                 std::uint32_t parts, const RowsOut& out, std::uint32_t blocks, Stream stream);

// The CPU's way. Part `part` of `parts` of the list, which is in pinned memory: copies its rows
// into `staged`, each at its place in the list, as they are. Called on the CPU once `locate` has
// run.
void stage_cold(const TableView& table, const ColdList& list, std::byte* staged, std::uint32_t part,
                std::uint32_t parts);
// The rows of that part, from `staged`, which is pinned.
void gather_staged(const TableView& table, const ColdList& list, std::byte* staged,
                   std::uint32_t part, std::uint32_t parts, const RowsOut& out, Stream stream);

}  // namespace holdall::kernels
