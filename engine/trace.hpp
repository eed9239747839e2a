// A recording of every access of a chunk, in the order in which the policy saw it, and of all else
// that it was told and asked: what the policy lab replays and re-enacts. Byte by byte in
// docs/trace-format.md.
#pragma once

#include <cstdint>
#include <exception>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "engine/new_file.hpp"

namespace holdall {

inline constexpr char trace_magic[] = "HOLDTRC1";      // requests alone
inline constexpr char recording_magic[] = "HOLDTRC2";  // a header, and events between the requests

enum TraceKind : std::uint8_t {
  trace_read,
  trace_write,      // both: read, and left changed
  trace_overwrite,  // written without being read
  trace_in_place,   // read or written where it lies, not resident; the policy was not asked
  trace_prefetch,   // brought in ahead of need
  trace_hint,       // needed next at `next_use`; nothing was brought in
  trace_remove,     // its contents went
  // Events of a recording, which say how the policy was used; no requests.
  trace_ask,     // the policy was asked to admit it; `outcome`: 1 to write it, 2 to prefetch it
  trace_back,    // resident again, since its eviction was called off; `outcome`: 1 if it is dirty
  trace_held,    // may not be evicted from here on
  trace_free,    // may be again
  trace_victim,  // the policy's answer when asked for a victim; `outcome`: 0 if it had none
  trace_evict,   // left to make room
  trace_budget,  // the device's budget is now `bytes`
  trace_told,    // the policy was told that it is needed next at `next_use`
};

struct TraceRecord {
  std::uint64_t time = 0;                      // ns since the recording began
  std::uint64_t chunk = 0;                     // of its range
  std::uint64_t bytes = 0;                     // of the chunk
  std::uint64_t lease = 0;                     // 0: none
  std::uint64_t next_use = ~std::uint64_t{0};  // record number; all ones: unknown or never
  std::uint32_t range = 0;
  std::uint16_t device = 0;
  std::uint8_t kind = trace_read;
  std::uint8_t outcome = 0;  // 0 hit, 1 brought in
};
static_assert(sizeof(TraceRecord) == 48);

// Behind the magic of a recording; then the policy's spec, `policy_bytes` long, and a budget of 8
// bytes a device.
struct RecordingHeader {
  std::uint32_t devices = 1;
  std::uint32_t policy_bytes = 0;
};

// Writes a recording, there under its name from close on; for one thread. Throws BackingError if
// the file cannot be made; a later failure shows at close.
class TraceWriter {
 public:
  TraceWriter(const std::filesystem::path& path, const std::string& policy,
              std::span<const std::uint64_t> budgets);
  void append(TraceRecord record);  // its time on the steady clock; made relative here
  // Later records are left out. Throws BackingError if not all of it reached the file. Where an
  // exception ends the engine, what was recorded goes, and what was there before stays.
  void close();

 private:
  std::filesystem::path path_;
  std::optional<NewFile> file_;
  std::uint64_t began_ = 0;
  std::uint64_t latest_ = 0;
  int error_ = 0;  // errno of the first failure
  const int exceptions_ = std::uncaught_exceptions();
};

}  // namespace holdall
