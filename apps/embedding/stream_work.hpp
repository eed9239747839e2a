// What a table's look-ups on one stream work with: lists, streams beside it, and counters. Grows
// with the batches.
#pragma once

#include <cstdint>
#include <mutex>

#include "apps/embedding/resident.hpp"
#include "apps/embedding/streams.hpp"
#include "engine/engine.hpp"
#include "kernels/lookup.hpp"
#include "kernels/pool.hpp"

namespace holdall::embedding {

class StreamWork {
 public:
  // Of a stream of `device`; `row`: of the cold rows, which it has room for.
  StreamWork(Engine& engine, Stream stream, int device, kernels::RowLayout row,
             const std::shared_ptr<Streams>& streams);
  ~StreamWork();

  // Room for batches of `n` keys of which `cold` are listed; `staged`: rows of that many on the
  // host, or on the device.
  enum class Staged { none, host, device };
  void make_room(std::uint64_t n, std::uint32_t cold, Staged staged);

  std::uint32_t* positions() const { return positions_.data(); }
  // Of `capacity` keys, at most what room was made for.
  kernels::ColdList list(std::uint32_t capacity) const;
  kernels::ColdList sorted(std::uint32_t capacity) const;
  // The list's count and positions in pinned memory, where the CPU's way reads them.
  kernels::ColdList on_cpu(std::uint32_t capacity) const;
  void* sorting() const { return sorting_.data(); }
  std::byte* staged_on_host() const { return host_rows_.data(); }
  std::byte* staged_on_device() const { return device_rows_.data(); }
  kernels::LookupCounts* counts() const { return counts_.data(); }
  Stream beside() const { return beside_; }
  Stream aside() const { return aside_; }  // where the CPU works meanwhile

  // `to` goes on when `from` has come here.
  void order(Stream from, Stream to);

  // Asks the device for its counters, unless it is being asked.
  void ask(Stream stream);
  kernels::LookupCounts told();  // last

  // A copy of `count` tables on the device, made on `stream`.
  const kernels::PooledTable* tables(const kernels::PooledTable* from, std::uint64_t count,
                                     Stream stream);

  std::mutex lock;                // held while a look-up is put on the stream
  std::uint64_t asked_after = 0;  // look-ups since it was last asked
  kernels::LookupCounts seen;     // when the share of cold keys was last reckoned
  std::uint64_t checked_missing = 0, checked_offsets = 0;

 private:
  static constexpr std::uint32_t header = 64;  // words before a list's positions, for its count

  Engine& engine_;
  const Stream stream_;
  const kernels::RowLayout row_;
  LentStream beside_, aside_;
  vmm::Event here_, told_;
  Resident<std::uint32_t> positions_;
  Resident<std::uint32_t> list_, sorted_;  // count, positions, which
  Resident<std::byte> sorting_, device_rows_;
  HostArray<std::uint32_t> host_list_;
  HostArray<std::byte> host_rows_;
  Resident<kernels::LookupCounts> counts_;
  HostArray<kernels::LookupCounts> told_counts_;
  Resident<kernels::PooledTable> tables_;
  HostArray<kernels::PooledTable> host_tables_;
  vmm::Event copied_;
  std::uint32_t room_ = 0;
  std::mutex telling_;
  bool asking_ = false;
  kernels::LookupCounts last_;
};

}  // namespace holdall::embedding
