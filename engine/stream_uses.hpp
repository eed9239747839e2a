// Which chunks the work on a stream may still touch. A released lease keeps its pins until its stream has passed the point
// of release: the in-flight rule stands here, and the pager only ever sees pins.
//
// On a stream of the engine's own, releases are fenced by one event for many leases, when there are enough of them or when
// the pager needs the pins; on a foreign stream, which its owner may destroy, at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "engine/range.hpp"
#include "engine/spin_lock.hpp"
#include "engine/thread_leases.hpp"
#include "engine/vmm/driver.hpp"

namespace holdall {

class StreamUse;

struct PinnedRun {
  RangeState* range = nullptr;
  ChunkRun run;
};

// What a lease holds. Lives in its StreamUse, which uses it again.
struct alignas(64) LeaseRecord {
  StreamUse* use = nullptr;
  ThreadLeases* owner = nullptr;  // nullptr: handed over, nobody's in particular
  std::uint64_t number = 0;
  std::vector<PinnedRun> runs;
  LeaseRecord* previous = nullptr;
  LeaseRecord* next = nullptr;
};

void unpin(const PinnedRun& run);

class alignas(64) StreamUse {
 public:
  // Counts in `unpins` whenever pins go.
  StreamUse(vmm::Driver& driver, Stream stream, int device, bool owned,
            std::atomic<std::uint64_t>& unpins);
  ~StreamUse();

  Stream stream() const { return stream_; }
  int device() const { return device_; }
  bool owned() const { return owned_; }

  // A record of the chunks of `needs` (anything with a range and a run), counted as its owner's from now on.
  template <class Needs>
  LeaseRecord* open(ThreadLeases& owner, std::uint64_t number, const Needs& needs) {
    const std::scoped_lock hold(lock_);
    LeaseRecord* const record = link(owner, number);
    for (const auto& need : needs) record->runs.push_back({need.range, need.run});
    return record;
  }
  // The lease ends; its pins go when the stream gets here. `fence_now`: somebody waits for pins. Never throws.
  void release(LeaseRecord* record, bool fence_now);
  // Drops the pins of released leases that the stream has passed; `fence` those that have no event yet.
  // Answers whether any went, and through `waiting` whether released ones remain.
  bool retire(bool fence, bool& waiting);
  // Whether released leases still hold pins.
  bool in_flight();
  // Its lease is nobody's in particular from now on.
  void hand_over(LeaseRecord* record);
  // Calls f(record) for each lease not released.
  template <class F>
  void each_live(F f) {
    const std::scoped_lock hold(lock_);
    for (LeaseRecord* r = live_; r; r = r->next) f(*r);
  }
  // Waits until the stream has finished and drops all pins.
  void finish();

 private:
  struct Batch {
    vmm::Event event;
    std::vector<LeaseRecord*> records;
  };
  LeaseRecord* link(ThreadLeases& owner, std::uint64_t number);
  void unlink(LeaseRecord* record);
  void fence();
  bool retire_passed();
  void drop_pins(std::vector<LeaseRecord*>& records);

  static constexpr std::size_t leases_a_fence = 64;

  vmm::Driver& driver_;
  const Stream stream_;
  const int device_;
  const bool owned_;
  std::atomic<std::uint64_t>& unpins_;
  SpinLock lock_;
  std::vector<std::unique_ptr<LeaseRecord>> records_;
  std::vector<LeaseRecord*> idle_;
  LeaseRecord* live_ = nullptr;
  std::vector<LeaseRecord*> released_;  // no event covers them yet
  std::deque<Batch> fenced_;            // in stream order
  std::vector<vmm::Event> events_;      // idle
  std::vector<std::vector<LeaseRecord*>> spare_;
};

// The uses of all streams that leases were taken on.
class StreamUses {
 public:
  explicit StreamUses(vmm::Driver& driver);
  ~StreamUses();

  // The use of `stream`, made at its first lease. Throws InvalidAccess for a stream that is none.
  StreamUse& of(Stream stream);
  // A stream of the engine's own; lives until the engine ends.
  Stream create(int device);

  bool retire(bool fence, bool& waiting);
  // Whether released leases on the streams of `device` still hold pins.
  bool in_flight(int device);
  void finish();
  // Grows whenever pins have gone. What failed for want of them may go well once it has grown.
  std::uint64_t unpins() const { return unpins_; }
  void note_unpin() { ++unpins_; }
  // Calls f(record) for each lease not released, on any stream.
  template <class F>
  void each_live(F f) {
    const std::shared_lock hold(lock_);
    for (auto& [handle, use] : uses_) use->each_live(f);
  }

 private:
  StreamUse& add(Stream stream, int device, bool owned);

  vmm::Driver& driver_;
  const std::uint64_t id_;
  std::shared_mutex lock_;
  // By handle and device: a stream may be made where another one was.
  std::map<std::pair<void*, int>, std::unique_ptr<StreamUse>> uses_;
  std::atomic<std::uint64_t> unpins_{0};
  std::vector<Stream> owned_;
};

}  // namespace holdall
