// A recording of every access of a chunk, in the order in which the policy saw it: what the policy
// lab replays. Byte by byte in docs/trace-format.md.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>

namespace holdall {

inline constexpr char trace_magic[] = "HOLDTRC1";

enum TraceKind : std::uint8_t {
  trace_read,
  trace_write,      // both: read, and left changed
  trace_overwrite,  // written without being read
  trace_in_place,   // read or written where it lies, not resident; the policy was not asked
  trace_prefetch,   // brought in ahead of need
  trace_hint,       // needed next at `next_use`; nothing was brought in
  trace_remove,     // its contents went
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

// Writes one; for one thread. Throws BackingError if the file cannot be made; a later failure shows
// at close.
class TraceWriter {
 public:
  explicit TraceWriter(const std::filesystem::path& path);
  void append(TraceRecord record);  // its time on the steady clock; made relative here
  void
  close();  // later records are left out; throws BackingError if not all of it reached the file

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::filesystem::path path_;
  std::unique_ptr<std::FILE, Close> file_;
  std::uint64_t began_ = 0;
  int error_ = 0;  // errno of the first failure
};

}  // namespace holdall
