// A range: a reserved interval of virtual addresses with a backing. Its pointer never changes.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/backing.hpp"
#include "engine/chunk.hpp"
#include "engine/chunk_set.hpp"

namespace holdall {

class Pager;

enum class Cold {
  unmapped,     // every access needs a lease
  host_mapped,  // kernels may read it where it lies, over the link, under an in_place lease
};

struct RangeOptions {
  std::string name = "range";         // in messages, stats and traces
  BackingSpec backing = zeros();
  Bytes chunk = 0;                    // a power of two times 2 MiB; 0: the engine's
  Cold cold = Cold::unmapped;
};

// What the engine knows of a range. Stays where it is until the engine ends, so that a stale handle is an error.
struct RangeState {
  struct alignas(64) Counters {  // written by the pager at every hit, so in a line of their own
    std::atomic<std::uint64_t> hits{0}, faults{0}, prefetched{0}, evictions{0}, write_backs{0};
    std::atomic<std::uint64_t> bytes_in{0}, bytes_out{0}, resident{0};
  };

  std::uint32_t id = 0;
  std::string name;
  std::byte* base = nullptr;
  Bytes bytes = 0;        // as asked
  Bytes chunk_bytes = 0;
  std::uint64_t chunks = 0;
  Chunk* table = nullptr;       // [chunks], zero pages until touched
  ChunkNotes* notes = nullptr;  // [chunks], behind the table
  Cold cold = Cold::unmapped;
  bool writable = true;
  std::shared_ptr<Backing> backing;
  std::atomic<bool> dropped{false};
  std::atomic<std::uint32_t> read_ahead{0};  // chunks; advise(sequential)
  Counters counters;
  // The pager's own.
  std::vector<std::uint64_t> poisoned;
  vmm::Status write_back_error = vmm::Status::ok;  // the newest, of a chunk that is dirty again

  Bytes table_bytes() const { return chunks * (sizeof(Chunk) + sizeof(ChunkNotes)); }
  std::byte* address(std::uint64_t chunk) const { return base + chunk * chunk_bytes; }
  // The last chunk's backing may end before the chunk does.
  Bytes stored_bytes(std::uint64_t chunk) const {
    const Bytes begin = chunk * chunk_bytes;
    return bytes - begin < chunk_bytes ? bytes - begin : chunk_bytes;
  }
};

// `size` elements of T from `data()` on, until it is dropped or destroyed. Owned by one; Engine::reserve makes it.
// Dropping waits for the leases on it and for the GPU; contents go to a writable file first, otherwise they are gone.
// The engine outlives its ranges. See Engine::drop for a drop that reports errors.
template <class T>
class Range {
 public:
  Range() = default;
  Range(Pager& pager, RangeState& state) : pager_(&pager), state_(&state) {}
  Range(Range&& other) noexcept { swap(other); }
  Range& operator=(Range&& other) noexcept {
    Range(std::move(other)).swap(*this);
    return *this;
  }
  ~Range();

  // What kernels use: valid for good, touchable where leased.
  T* data() const { return reinterpret_cast<T*>(state_->base); }
  std::uint64_t size() const { return state_->bytes / sizeof(T); }
  const std::string& name() const { return state_->name; }
  std::uint64_t chunks() const { return state_->chunks; }
  Bytes chunk_bytes() const { return state_->chunk_bytes; }
  // The elements that begin in a run of its chunks. (Elements whose size does not divide a chunk may end in the next.)
  struct Elements {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
  };
  Elements elements(ChunkRun run) const {
    const auto begin_of = [this](std::uint64_t chunk) {
      return std::min((chunk * chunk_bytes() + sizeof(T) - 1) / sizeof(T), size());
    };
    return {begin_of(run.first), begin_of(run.first + run.count) - begin_of(run.first)};
  }
  RangeState& state() const { return *state_; }
  explicit operator bool() const { return state_ != nullptr; }
  void swap(Range& other) noexcept {
    std::swap(pager_, other.pager_);
    std::swap(state_, other.state_);
  }

 private:
  Pager* pager_ = nullptr;
  RangeState* state_ = nullptr;
};

}  // namespace holdall
