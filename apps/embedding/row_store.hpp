// Where a table's rows are: one flat interval of positions in chunks. The first chunks are in
// device memory, the others in pinned host memory, each in one of the two alone. A row that lies
// across the border is on the host.
//
// Missing from the engine: an exclusive tier. A range that is host-mapped keeps a host frame for
// every chunk, made at 4 GB/s; here the host's part is pinned chunk by chunk and given back when
// the chunk moves up.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/embedding/layout.hpp"
#include "engine/engine.hpp"
#include "kernels/table.hpp"

namespace holdall::embedding {

class RowStore {
 public:
  // Room for the rows of a layout, `hot_bytes` of it (rounded down to chunks) in device memory.
  // Throws OutOfHostMemory, WorkingSetTooLarge, DriverError.
  RowStore(Engine& engine, Stream stream, std::string name, const RowsLayout& layout,
           Bytes hot_bytes);
  ~RowStore();
  RowStore(const RowStore&) = delete;
  RowStore& operator=(const RowStore&) = delete;

  std::byte* hot() const { return range_.data(); }
  std::byte* cold() const { return cold_; }
  // Rows in device memory while `chunks` chunks are.
  std::uint32_t hot_rows(std::uint64_t chunks) const;
  std::uint32_t hot_rows() const { return hot_rows(hot_chunks_); }
  std::uint64_t chunks() const { return layout_.chunks; }
  std::uint64_t hot_chunks() const { return hot_chunks_; }
  Bytes chunk_bytes() const { return layout_.chunk; }
  std::uint64_t positions() const { return layout_.positions; }
  Bytes host_bytes() const { return host_bytes_; }
  Bytes device_bytes() const { return hot_chunks_ * layout_.chunk; }

  // The way from one border to another: make room on the other side, have the rows copied, tell the
  // readers, let those of before pass, give up the old room.
  void make_room(Stream stream, std::uint64_t chunks);
  // Copies the rows that change sides; stream-ordered.
  void copy_between(Stream stream, std::uint64_t chunks);
  void settle(std::uint64_t chunks);

 private:
  void pin(std::uint64_t chunk);
  void unpin(std::uint64_t chunk);
  std::byte* slab(std::uint64_t chunk) const {
    return cold_ + chunk * layout_.chunk - layout_.shift;
  }

  Engine& engine_;
  const std::string name_;
  const RowsLayout layout_;
  std::atomic<std::uint64_t> hot_chunks_{0};
  Range<std::byte> range_;
  std::vector<Lease> leases_;      // of each hot chunk
  std::byte* reserved_ = nullptr;  // the host's addresses
  std::byte* cold_ = nullptr;      // where position 0 would be among them
  std::vector<bool> pinned_;       // [layout_.slabs()]
  std::atomic<Bytes> host_bytes_{0};
};

}  // namespace holdall::embedding
