// Bags of rows, pooled: what torch.nn.EmbeddingBag does, for one table or many in one launch. Sums
// run in the order of the indices, in fp32, so that both drivers give the same bits.
#pragma once

#include <cstdint>

#include "engine/vmm/stream.hpp"
#include "kernels/lookup.hpp"

namespace holdall::kernels {

enum class Pooling : std::uint8_t { sum, mean, max };

// Bag b is indices [offsets[b], offsets[b + 1]); the last ends at the end, or at offsets[bags] if
// that is included.
struct Bags {
  const std::uint64_t* indices = nullptr;
  std::uint64_t count = 0;  // of indices
  const std::uint64_t* offsets = nullptr;
  std::uint64_t bags = 0;
  bool include_last_offset = false;
  Pooling pooling = Pooling::sum;
  const float* weights = nullptr;  // [count], of a sum; nullptr: ones
  std::int64_t padding = -1;       // this index is skipped and not counted; negative: none
};

// Rows that were fetched ahead: the row of an index i with positions[i] above `first_staged` is row
// positions[i] - first_staged of `staged`. positions == nullptr: nothing was.
struct Staged {
  const std::uint32_t* positions = nullptr;
  std::byte* staged = nullptr;  // as rows on the host are
};
constexpr std::uint32_t first_staged = 0x8000'0000;

// out row b, of the table's dimension, at `stride` bytes times b. Unknown keys count as their
// fallback row.
void pool(const TableView& table, const Bags& bags, const Staged& staged, LookupCounts* counts,
          const RowsOut& out, Stream stream);

// Many tables: bag b of table t is bag t * bags_each + b; its result is row b, from element `at` of
// the table on.
struct PooledTable {
  TableView table;
  std::uint64_t at = 0;
};
// `tables` is in memory of the device; `bags.bags` is their number times bags_each.
void pool_many(const PooledTable* tables, std::uint64_t count, const Bags& bags,
               LookupCounts* counts, const RowsOut& out, Stream stream);

// Fetches the rows of a sorted list into `staged`, and tells `positions`.
void stage_rows(const TableView& table, const ColdList& sorted, std::uint32_t* positions,
                std::byte* staged, std::uint32_t blocks, Stream stream);

}  // namespace holdall::kernels
