// What a table will take, to the byte, and what it will give, before anything is allocated.
#pragma once

#include <vector>

#include "apps/embedding/source.hpp"
#include "apps/embedding/spec.hpp"

namespace holdall::embedding {

struct TablePlan {
  Bytes budget = 0;          // of each device, as asked
  Bytes chunk = 0;           // rows come to a device so many bytes at a time
  Bytes device_bytes = 0;    // rows in device memory, of all devices
  Bytes host_bytes = 0;      // pinned, for the others
  Bytes overhead_bytes = 0;  // of device memory: entries, keys, counts
  std::uint64_t hot_rows = 0;
  double hit_rate = 0;  // expected
};

// Of the table that EmbeddingTable::open would make of such a source with each of the budgets, in
// an engine of so many devices.
std::vector<TablePlan> plan_table(const TableSpec& spec, const SourceInfo& source,
                                  const std::vector<Bytes>& budgets, int devices = 1);

}  // namespace holdall::embedding
