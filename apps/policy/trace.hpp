// A trace as the simulations want it: one array a column, chunks numbered from 0 (numbering.hpp),
// and only the columns that say something. Either streamed, a block of requests at a time, or held
// whole.
//
//   Trace trace = read_trace("trace.csv");
//   replay(trace.requests(), "lru", {.capacity = 1000});
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "apps/policy/numbering.hpp"
#include "apps/policy/reader.hpp"

namespace holdall::lab {

using RequestNumber = std::uint32_t;
inline constexpr RequestNumber never_used = ~RequestNumber{0};

// Consecutive requests. An empty column says the same of all: reads, of one byte, next use unknown.
struct Requests {
  std::span<const Id> ids;
  std::span<const std::uint8_t> kinds;       // TraceKind
  std::span<const std::uint64_t> bytes;      // size of the chunk, as of this request
  std::span<const RequestNumber> next_uses;  // never_used: none

  std::size_t size() const { return ids.size(); }
};

// What was counted while reading.
struct TraceFacts {
  std::string format;
  std::uint64_t requests = 0;
  std::uint64_t backwards = 0;                  // times that were before the last
  std::uint64_t first_time = 0, last_time = 0;  // ns
  std::uint64_t least_bytes = ~std::uint64_t{0}, most_bytes = 0;
  std::uint64_t kinds[trace_remove + 1] = {};  // requests of each
  std::size_t distinct = 0;
};

class TraceStream;

struct TraceOptions {
  ReadOptions read = {};
  bool sizes = false;                                     // keep the column of sizes, if they vary
  std::function<bool(const TraceRecord&)> keep = {};      // which requests to keep; all
  std::function<void(const TraceStream&)> progress = {};  // told now and then
};

class TraceStream {
 public:
  // Throws LabError as open_trace does.
  explicit TraceStream(const std::string& path, TraceOptions options = {});

  // The next requests, at most `most`; none at the end. Valid until the next call. Requests in
  // place are left out: no policy sees them. Throws LabError.
  Requests next(std::size_t most);

  const TraceFacts& facts() const { return facts_; }
  const Numbering& numbering() const { return numbering_; }
  const Reader& reader() const { return *reader_; }

 private:
  std::size_t choose(std::size_t read);
  std::uint8_t count(std::span<const TraceRecord> records);

  TraceOptions options_;
  std::unique_ptr<Reader> reader_;
  Numbering numbering_;
  TraceFacts facts_;
  std::uint64_t last_time_ = 0;
  std::vector<TraceRecord> records_;  // so few that they stay in the processor's nearest cache
  std::vector<std::uint64_t> keys_;
  std::vector<Id> ids_;
  std::vector<std::uint8_t> kinds_;
  std::vector<std::uint64_t> bytes_;
};

// The number that stands for the record's chunk, its range included.
inline std::uint64_t key_of(const TraceRecord& record) {
  return std::uint64_t{record.range} << 40 ^ record.chunk;
}

// A whole one: 4 bytes a request, 1 more if kinds vary, 8 more if sizes are kept and vary.
struct Trace {
  std::string name;  // the file's name, without the endings of packing
  TraceFacts facts;
  std::vector<Id> ids;
  std::vector<std::uint8_t> kinds;
  std::vector<std::uint64_t> bytes;
  std::vector<RequestNumber> next_uses;  // once find_next_uses was called
  std::vector<std::uint64_t> keys;       // by id

  Requests requests() const { return {ids, kinds, bytes, next_uses}; }
  std::size_t distinct() const { return keys.size(); }
  // The sizes of all chunks together, each as of its last request; the number of chunks if sizes
  // are not kept.
  std::uint64_t footprint() const;
};

// Throws LabError as open_trace does, and if there is no request in it.
Trace read_trace(const std::string& path, const TraceOptions& options = {});

// Fills in, for each request, the next one of the same chunk, whatever the format says. Prefetches,
// hints and removals are no uses. Throws LabError past 2^32 - 2 requests.
void find_next_uses(Trace& trace);

std::string trace_name(const std::string& path);  // "a/b.oracleGeneral.bin.zst": "b"

}  // namespace holdall::lab
