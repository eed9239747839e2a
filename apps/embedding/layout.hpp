// How big the parts of a table are: what opening it and planning it agree on.
#pragma once

#include <cstdint>

#include "apps/embedding/source.hpp"
#include "apps/embedding/spec.hpp"
#include "kernels/row.hpp"

namespace holdall::embedding {

// Rows in chunks of device memory; those on the host in slabs as big.
struct RowsLayout {
  kernels::RowLayout row;
  kernels::RowLayout cold_row;
  std::uint64_t positions = 0;
  Bytes chunk = 0;
  std::uint64_t chunks = 0;

  std::uint64_t slabs() const { return (positions * cold_row.stride + chunk - 1) / chunk; }
  // The slabs from this one on are needed while `hot` chunks are in device memory. A row that lies
  // across the border is on the host.
  std::uint64_t first_slab(std::uint64_t hot) const {
    return hot == chunks ? slabs() : hot_rows(hot) * cold_row.stride / chunk;
  }
  Bytes host_bytes(std::uint64_t hot) const { return (slabs() - first_slab(hot)) * chunk; }
  // Chunks in device memory where each of so many devices has `memory`.
  std::uint64_t chunks_in(Bytes memory, int devices) const {
    const std::uint64_t each = memory / chunk;
    const auto n = static_cast<std::uint64_t>(devices);
    return each * n < chunks ? each * n : chunks;
  }
  // Rows in device memory while `hot` chunks are.
  std::uint64_t hot_rows(std::uint64_t hot) const {
    const std::uint64_t rows = hot * chunk / row.stride;
    return rows < positions ? rows : positions;
  }
};
// `chunk` 0: by the size. Throws EmbeddingError where a row is longer than a chunk.
RowsLayout rows_layout(const std::string& name, kernels::RowLayout row, kernels::RowLayout cold_row,
                       std::uint64_t positions, Bytes chunk);

struct TableLayout {
  RowsLayout rows;
  std::uint64_t spares = 0;  // positions that learning moves rows to
  bool mapped = false;       // entries lead to positions; otherwise a key is its position
  std::uint64_t entry_count = 0;
  Bytes overhead = 0;  // of device memory, for all but rows
};

// With what the spec leaves open filled in. Throws EmbeddingError where it and the source disagree.
TableSpec completed(TableSpec spec, const SourceInfo& source);
TableLayout layout_of(const TableSpec& completed, const SourceInfo& source);

}  // namespace holdall::embedding
