// One chunk's state: a single atomic word with named transitions (after vmcache, Leis et al., SIGMOD 2023), so that a hit
// needs no lock. Anyone pins a resident chunk; only the pager does anything else.
#pragma once

#include <atomic>
#include <bitset>
#include <cstdint>

#include "engine/vmm/driver.hpp"

namespace holdall {

struct alignas(32) Chunk {
  enum State : std::uint64_t {
    cold,         // not mapped, or not there yet
    resident,     // mapped to a device frame that holds its contents
    leaving,      // the pager is taking its frame
    host_mapped,  // cold mode host-mapped: mapped to its pinned host frame
    poisoned,     // its mapping is in doubt
  };

  std::atomic<std::uint64_t> word{0};
  std::atomic<std::uint64_t> ready{0};  // ticket of the copy that fills it, in its device's copy-in queue
};

// What the pager alone knows of a chunk; apart from the word, so that hits and the pager's notes of them do not pass one
// cache line to and fro.
struct alignas(32) ChunkNotes {
  vmm::Frame frame{};
  std::uint32_t slot = 0;    // 1 + the slot of a pooled backing; 0: none yet
  std::uint32_t place = 0;   // in its device's list of resident chunks
  std::uint8_t home = 0;     // 1 + the device where it is resident; 0: none
  bool stored = false;       // the backing holds its contents; false: zeros, unless the backing is full
  bool next_victim = false;  // chosen to leave, being cleaned ahead
  bool cleaning = false;     // a write-back is in flight
  bool keep = false;         // advised to stay
};
static_assert(sizeof(Chunk) + sizeof(ChunkNotes) == 64, "metadata: 64 bytes a chunk");

// The parts of a word.
struct ChunkWord {
  static constexpr std::uint64_t state_mask = 0x7;
  static constexpr std::uint64_t dirty_bit = 0x8;
  static constexpr std::uint64_t shared_bit = 0x10;  // other devices were granted access too
  static constexpr int device_shift = 8;
  static constexpr std::uint64_t device_mask = 0xff00;
  static constexpr std::uint64_t one_pin = std::uint64_t{1} << 32;

  std::uint64_t value = 0;

  Chunk::State state() const { return static_cast<Chunk::State>(value & state_mask); }
  bool dirty() const { return value & dirty_bit; }
  bool shared() const { return value & shared_bit; }
  int device() const { return static_cast<int>((value & device_mask) >> device_shift); }
  std::uint64_t pins() const { return value >> 32; }

  static ChunkWord of(const Chunk& chunk) { return {chunk.word.load(std::memory_order_acquire)}; }
  static ChunkWord make(Chunk::State state, int device, std::uint64_t pins, bool dirty, bool shared) {
    return {state | (dirty ? dirty_bit : 0) | (shared ? shared_bit : 0) | static_cast<std::uint64_t>(device) << device_shift |
            pins * one_pin};
  }
};

enum class Where { resident, anywhere };  // what a pin asks for: anywhere takes host-mapped as well

// A device whose kernels touch chunks.
struct Reader {
  int device = 0;
  std::bitset<256> reached;  // the devices whose frames it can be granted, its own among them

  // Whether it was granted a resident chunk: those on other devices once they are shared.
  bool touches(ChunkWord word) const {
    return word.device() == device ||
           (word.shared() && reached[static_cast<std::size_t>(word.device())]);
  }
};

// Pins the chunk if it is where `reader` may touch it; `write` leaves it dirty. The word as it then was, state cold if not
// pinned.
inline ChunkWord try_pin(Chunk& chunk, bool write, Where where, const Reader& reader) {
  std::uint64_t seen = chunk.word.load(std::memory_order_acquire);
  for (;;) {
    const auto state = ChunkWord{seen}.state();
    if (state == Chunk::resident ? !reader.touches({seen})
                                 : !(where == Where::anywhere && state == Chunk::host_mapped))
      return {};
    const std::uint64_t dirty = write && state == Chunk::resident ? ChunkWord::dirty_bit : 0;
    const std::uint64_t pinned = (seen | dirty) + ChunkWord::one_pin;
    if (chunk.word.compare_exchange_weak(seen, pinned, std::memory_order_acq_rel)) return {pinned};
  }
}

inline void unpin(Chunk& chunk) {
  chunk.word.fetch_sub(ChunkWord::one_pin, std::memory_order_acq_rel);
}

// Pager: resident or host-mapped and unpinned -> leaving; nobody can pin it from here on. `clean_only` refuses a dirty one.
inline bool try_mark_leaving(Chunk& chunk, bool clean_only) {
  std::uint64_t seen = chunk.word.load(std::memory_order_acquire);
  for (;;) {
    const ChunkWord word{seen};
    if (word.pins() || (word.state() != Chunk::resident && word.state() != Chunk::host_mapped))
      return false;
    if (clean_only && word.dirty()) return false;
    const std::uint64_t next = (seen & ~ChunkWord::state_mask) | Chunk::leaving;
    if (chunk.word.compare_exchange_weak(seen, next, std::memory_order_acq_rel)) return true;
  }
}

// Pager: takes the dirty mark off an unpinned resident chunk, to write it back; false if it is pinned or clean.
inline bool try_take_dirty(Chunk& chunk) {
  std::uint64_t seen = chunk.word.load(std::memory_order_acquire);
  for (;;) {
    const ChunkWord word{seen};
    if (word.pins() || word.state() != Chunk::resident || !word.dirty()) return false;
    if (chunk.word.compare_exchange_weak(seen, seen & ~ChunkWord::dirty_bit,
                                         std::memory_order_acq_rel))
      return true;
  }
}

inline void mark_shared(Chunk& chunk) {
  chunk.word.fetch_or(ChunkWord::shared_bit, std::memory_order_acq_rel);
}

inline void mark_dirty(Chunk& chunk) {
  chunk.word.fetch_or(ChunkWord::dirty_bit, std::memory_order_acq_rel);
}

// Pager: the chunk is in transit (cold or leaving) or being given up; nobody else changes the word.
inline void publish(Chunk& chunk, Chunk::State state, int device, std::uint64_t pins, bool dirty,
                    bool shared = false) {
  chunk.word.store(ChunkWord::make(state, device, pins, dirty, shared).value, std::memory_order_release);
}

}  // namespace holdall
