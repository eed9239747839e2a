// A recording of every access of a chunk, in the order in which the policy saw it: what the policy lab replays.
//
// File: an 8-byte magic "HOLDTRC1", then records of 48 bytes, little-endian, to the end:
//   u64 time (ns since the recording began), u64 chunk (of its range), u64 bytes (of the chunk), u64 lease (0: none),
//   u64 next use (record number; all ones: unknown), u32 range, u16 device, u8 kind (0 read, 1 write, 2 overwrite,
//   3 in place, 4 prefetch), u8 outcome (0 hit, 1 brought in).
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>

namespace holdall {

struct TraceRecord {
  std::uint64_t time = 0;
  std::uint64_t chunk = 0;
  std::uint64_t bytes = 0;
  std::uint64_t lease = 0;
  std::uint64_t next_use = ~std::uint64_t{0};
  std::uint32_t range = 0;
  std::uint16_t device = 0;
  std::uint8_t kind = 0;
  std::uint8_t outcome = 0;
};
static_assert(sizeof(TraceRecord) == 48);

// Writes one; for one thread. Throws BackingError if the file cannot be made; a later failure shows at close.
class TraceWriter {
 public:
  explicit TraceWriter(const std::filesystem::path& path);
  void append(TraceRecord record);  // its time on the steady clock; made relative here
  void close();                     // later records are left out; throws BackingError if not all of it reached the file

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
