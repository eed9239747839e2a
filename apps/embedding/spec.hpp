// How a table is to be opened. All of it has a default that works.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/vmm/bytes.hpp"
#include "kernels/row.hpp"

namespace holdall::embedding {

using kernels::RowType;

enum class Keys { dense, hashed };  // row numbers, or any 64-bit number but the two highest
enum class Unknown {
  zeros,
  fallback,
  error
};  // what the row of an unknown key is; error: zeros, and check() throws
enum class NotANumber { allow, refuse, zero };  // in a source's rows
enum class Duplicates {
  last,
  refuse
};  // keys that a source has twice: the last row counts, or an error
// How the cold rows of a batch are read: with all others by one kernel; listed and read beside the
// hot ones, by few blocks, as they come or sorted by address; gathered by the CPU; sorted, and a
// part of the addresses read, the others gathered by the CPU. measured: what is fastest for the
// number.
enum class Fetch { measured, direct, beside, sorted, cpu, both };

// Learning which rows are asked for most, and moving those to device memory.
struct Learning {
  bool on = false;
  bool background = true;         // a thread steps; otherwise you call EmbeddingTable::learn
  std::uint32_t one_in = 4;       // keys asked for often, one is counted for all; a power of two
  std::uint64_t halve_every = 0;  // keys looked up; 0: eight times the table's rows, at least 2^20
  Bytes bytes_per_second = Bytes{4} << 30;  // of rows that the thread moves
  std::uint32_t rows_at_once = 0;           // moved by one step at most; 0: by the number of rows
};

struct TableSpec {
  std::string name = "table";
  RowType type = RowType::fp32;  // as stored; sources of other types are converted
  // Of rows while they are in host memory, narrower than `type`: host memory and link hold more of
  // them, but they change. A row is rounded as it goes down, and stays so when it comes up again,
  // until it is updated there; rows that were never down are exact.
  std::optional<RowType> cold_type = {};
  std::uint32_t dim = 0;     // 0: the source's
  Bytes memory = ~Bytes{0};  // of each device, for rows; rounded down to chunks
  Keys keys = Keys::dense;
  std::uint64_t capacity = 0;  // rows; 0: the source's. Room for insert_or_assign
  Unknown unknown = Unknown::zeros;
  std::vector<float> fallback = {};  // [dim], with Unknown::fallback
  // How often each of the source's rows is asked for; the most wanted lie in device memory. Empty:
  // the source's order.
  std::vector<std::uint64_t> frequencies = {};
  Learning learning = {};
  NotANumber not_a_number = NotANumber::allow;
  Duplicates duplicates = Duplicates::last;
  Fetch fetch = Fetch::measured;
  Bytes chunk = 0;  // 0: by the table's size
};

}  // namespace holdall::embedding
