// Where a table's rows are: one flat interval of positions in chunks. The first chunks are in
// device memory, one device after the other in turn, the others in pinned host memory, each in one
// place alone. A row that lies across the border is on the host.
//
// Missing from the engine: an exclusive tier. A range that is host-mapped keeps a host frame for
// every chunk, made at 4 GB/s; here the host's part is pinned slab by slab and given back when its
// rows move up.
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
  // Room for the rows of a layout, of which each device has `memory` (rounded down to chunks).
  // `streams`: one of each device. Throws OutOfHostMemory, WorkingSetTooLarge, DriverError.
  RowStore(Engine& engine, std::vector<Stream> streams, std::string name, const RowsLayout& layout,
           Bytes memory);
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
  // Chunks in device memory where each device has so much.
  std::uint64_t chunks_in(Bytes memory) const {
    return layout_.chunks_in(memory, static_cast<int>(streams_.size()));
  }
  // Throws EmbeddingError for a budget that no chunk fits into; 0 is none.
  void check_budget(Bytes memory) const;
  const RowsLayout& layout() const { return layout_; }
  std::uint64_t positions() const { return layout_.positions; }
  Bytes host_bytes() const { return host_bytes_; }
  Bytes device_bytes() const { return hot_chunks_ * layout_.chunk; }

  // The way from one border to another: make room on the other side, have the rows copied, tell the
  // readers, let those of before pass, give up the old room.
  void make_room(std::uint64_t chunks);
  // Copies the rows that change sides, and waits.
  void copy_between(std::uint64_t chunks);
  void settle(std::uint64_t chunks);

 private:
  Lease hold(std::uint64_t chunk);
  void pin(std::uint64_t slab);
  void unpin(std::uint64_t slab);
  void copy_by_driver(std::uint32_t first, std::uint32_t last, bool up);
  std::byte* slab(std::uint64_t i) const { return cold_ + i * layout_.chunk; }

  Engine& engine_;
  const std::vector<Stream> streams_;
  const std::string name_;
  const RowsLayout layout_;
  std::atomic<std::uint64_t> hot_chunks_{0};
  Range<std::byte> range_;
  std::vector<Lease> leases_;  // of each hot chunk
  std::byte* cold_ = nullptr;  // the host's addresses, of all positions
  std::vector<bool> pinned_;   // [layout_.slabs()]
  std::atomic<Bytes> host_bytes_{0};
};

}  // namespace holdall::embedding
