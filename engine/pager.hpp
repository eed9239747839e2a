// The pager: the one component that changes mappings, on one thread of its own. The driver serialises mapping calls anyway,
// and a single owner keeps the page table's truth simple. Callers hit without it; a caller that misses posts what it needs
// and waits for mappings, not for copies.
//
// Demand goes before prefetch, prefetch before cleaning ahead. A demand that finds no victim is parked, holding nothing,
// until pins go. In-flight safety: a pin lasts until the GPU has passed the lease's end (engine/stream_uses.hpp), and
// `leave` below is the only function that unmaps a chunk of a range; it takes chunks that nobody pins.
//
// pager.cpp: ranges, hints and budgets. pager_leases.cpp: leases, on other threads. pager_loop.cpp: the pager's own thread.
// pager_serve.cpp: a demand, from pins to copies. pager_fill.cpp: the contents. pager_evict.cpp: victims, write-back, leaving.
#pragma once

#include <tbb/info.h>
#include <tbb/task_arena.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "engine/access.hpp"
#include "engine/access_log.hpp"
#include "engine/backings.hpp"
#include "engine/config.hpp"
#include "engine/copy_queue.hpp"
#include "engine/frame_pool.hpp"
#include "engine/mapper.hpp"
#include "engine/need.hpp"
#include "engine/schedule.hpp"
#include "engine/shadows.hpp"
#include "engine/stats.hpp"
#include "engine/stream_uses.hpp"
#include "engine/timeline.hpp"
#include "engine/trace.hpp"
#include "policies/policy.hpp"
#include "policies/prefetch.hpp"

namespace holdall {

// A demand on its way through the pager.
struct Pending {
  std::vector<Need> needs;
  StreamUse* use = nullptr;
  ThreadLeases* owner = nullptr;
  LeaseRecord* record = nullptr;
  std::vector<std::uint64_t> behind;  // [device]: copies that the stream must wait for
  std::vector<PinnedRun> unfilled;    // brought in to be overwritten, without their contents
  std::uint64_t failed_at = ~std::uint64_t{0};  // StreamUses::unpins before it last found no room
  bool everywhere = false;  // whether that was sought on all devices
  bool widened = false;     // shrunk budgets were tried at their full width for it
  std::exception_ptr error;
  std::int64_t posted = 0;            // ns
  std::atomic<bool> waited{false};    // its thread does nothing else
  enum : int { queued, served, cancelled };
  std::atomic<int> done{queued};
};

enum class Advice {
  normal,       // take back sequential and keep
  sequential,   // read ahead of a fault
  random,       // do not
  will_need,    // bring in, in this order, as room allows
  do_not_need,  // evict first
  keep,         // evict last
};

class Pager {
 public:
  static constexpr std::size_t slice = 8;  // chunks that are mapped before their copies start

  Pager(std::unique_ptr<vmm::Driver> driver, const Config& config);
  ~Pager();

  vmm::Driver& driver() const { return *driver_; }
  int devices() const { return static_cast<int>(devices_.size()); }
  StreamUses& uses() { return uses_; }
  HostMemory& host_memory() { return host_memory_; }
  // A stream of `device` for the engine's own copies of callers' data.
  Stream own_stream(int device);

  RangeState& reserve(Bytes bytes, const RangeOptions& options);
  void drop(RangeState& range);

  // See Engine::acquire.
  LeaseRecord* acquire(Stream stream, std::span<const Access> accesses);
  void release(LeaseRecord* record) noexcept;
  // The same in two steps: what `begin` asks for is brought in while its thread does other things.
  std::shared_ptr<Pending> begin(StreamUse& use, std::vector<Need> needs);
  LeaseRecord* finish(Pending& pending);
  void cancel(Pending& pending) noexcept;
  // Whether `finish` would not wait, nor a stream behind it: all is mapped and copied.
  bool arrived(const Pending& pending);
  // Pins those of `needs` that are resident now, in leases of about `most` bytes; `needs` keeps the rest.
  struct PinnedPart {
    std::vector<Need> needs;
    LeaseRecord* record = nullptr;
  };
  std::vector<PinnedPart> pin_resident(StreamUse& use, std::vector<Need>& needs, Bytes most);
  // Bytes under leases that have not been released, on all devices' streams or on those of one.
  Bytes leased();
  Bytes leased(int device);
  // Throws InvalidAccess on a capturing stream, DriverError on a lost device.
  void check_use(const StreamUse& use) const;

  // Checked and cut at chunk edges, disjoint, by range and position. Throws InvalidAccess, RangeDropped.
  std::vector<Need> needs_of(std::span<const Access> accesses) const;

  void prefetch(int device, std::span<const Access> accesses);
  void advise(const Access& part, Advice advice);
  void schedule(std::span<const Access> accesses, std::uint64_t times);
  void forget_schedule();
  void flush(RangeState& range);
  void close();
  void set_memory(int device, Bytes bytes);
  void set_host_memory(Bytes bytes);
  Bytes memory(int device) const { return device_at(device).pool.budget(); }
  Stats stats();
  // A pinned or host-mapped range's contents on the host; nullptr for others.
  std::byte* contents(RangeState& range);

 private:
  struct Resident {
    RangeState* range = nullptr;
    std::uint64_t chunk = 0;
  };
  struct Device {
    Device(vmm::Driver& driver, int index, Bytes budget, const Config& config);
    const int index;
    FramePool pool;
    CopyQueue in;
    CopyQueue out;
    std::unique_ptr<Policy> policy;
    std::unique_ptr<holdall::Prefetch> prefetch;  // where asked for, as shadows are
    std::unique_ptr<Shadows> shadows;
    std::vector<Resident> resident;          // in no order
    std::deque<Resident> next_victims;       // chosen ahead, so that the dirty ones get clean
    std::atomic<Bytes> resident_bytes{0};
    std::atomic<std::uint64_t> moved_to_peers{0};
    std::byte* landing = nullptr;            // addresses where a chunk from a peer arrives
    Bytes landing_bytes = 0;
    std::vector<int> peers;                  // that it can use, itself left out
  };
  struct Victim {
    RangeState* range = nullptr;
    std::uint64_t chunk = 0;
    int device = 0;
    vmm::Frame frame{};
    std::uint64_t ticket = 0;  // of its write-back; 0: none
    int to_peer = -1;          // moves there instead of leaving
    bool written = false;      // a write-back was started
    bool discard = false;      // its contents are not wanted any more
    bool dirty = false;        // its frame alone has its contents
    bool reused = false;       // its frame has a new owner
  };
  struct Incoming {
    RangeState* range = nullptr;
    std::uint64_t chunk = 0;
    Access::Kind kind = Access::read;
    int device = 0;
    vmm::Frame frame{};
    Victim* owner = nullptr;            // whose frame it is, if it came from one
    std::uint64_t ready = 0;
    Bytes copied = 0;                   // from the backing
    std::size_t victims_before = 0;     // those that must have left for it and for all before it
    bool ahead = false;                 // nobody asked for it yet
    bool was_host_mapped = false;
    bool granted = false;
    bool shared = false;                // granted to all that reach it, since one of them asks
  };
  struct WriteBack {
    RangeState* range = nullptr;
    std::uint64_t chunk = 0;
    int device = 0;
    std::uint64_t ticket = 0;
    std::int64_t began = 0;  // ns
  };
  struct Prefetch {
    int device = 0;
    Need need;
  };
  // Something that is tried again until it says that it is done; throws to give up.
  struct Task {
    std::function<bool()> step;
    ThreadLeases* owner = nullptr;
    bool done = false;
    std::exception_ptr error;
    std::uint64_t failed_at =
        ~std::uint64_t{0};  // StreamUses::unpins before the newest try that was not done
  };
  // Pinned memory through which files reach a device that the CPU does not.
  struct Staging {
    std::vector<std::byte*> slots;
    std::vector<CopyQueue*> queues;  // whose copy uses the slot
    std::vector<std::uint64_t> tickets;
    std::size_t next = 0;
  };

  Device& device_at(int device) const { return *devices_[static_cast<std::size_t>(device)]; }
  static Key key(const RangeState& range, std::uint64_t chunk) {
    return Key{static_cast<std::uint64_t>(range.id) << 40 | chunk};
  }
  static KeyRange keys(const RangeState& range) { return {key(range, 0), range.chunks}; }
  Resident chunk_of(Key key) const {
    const auto value = static_cast<std::uint64_t>(key);
    return {ranges_[value >> 40].get(), value & ((std::uint64_t{1} << 40) - 1)};
  }
  // Whether kernels of device `reader` may be granted frames of device `owner`.
  bool reaches(int reader, int owner) const {
    return readers_[static_cast<std::size_t>(reader)].reached[static_cast<std::size_t>(owner)];
  }

  // pager.cpp
  void tell_next_use(Key chunk, std::uint64_t next_use);
  bool drop_step(RangeState& range);
  bool flush_step(RangeState& range);
  void end_recording();
  void release_range(RangeState& range);

  // pager_leases.cpp
  void order(StreamUse& use, std::span<const std::uint64_t> behind);
  void log_hits(std::span<const Need> needs, std::uint64_t lease, std::int64_t time);

  // pager_loop.cpp
  template <class F>
  void post(F f) {
    {
      const std::scoped_lock hold(lock_);
      f();
      posted_ = true;
    }
    wake_.notify_one();
  }
  void call(std::function<bool()> step);
  void run();
  bool work();
  void drain();
  void note_hits(const Need& need, std::uint64_t lease, std::int64_t time);
  void trace(const RangeState& range, std::uint64_t chunk, int device, std::uint8_t kind,
             std::uint8_t outcome, std::uint64_t lease, std::int64_t time,
             std::uint64_t next_use = Request::never);
  void show_shadows(Device& device, Key chunk, const Request& request);
  void take_turns();
  bool stays_off(const Pending& pending, int device) const;
  bool endless(const ThreadLeases* owner, std::uint64_t failed_at);
  bool widen(Pending& pending);
  [[noreturn]] void throw_too_large(const Pending& pending);
  Bytes within_reach(int device) const;
  void fail_endless(Pending& pending);

  // pager_serve.cpp
  bool serve(Pending& pending);
  void complete(Pending& pending);
  void give_contents_back(const Pending& pending) noexcept;
  bool leave_out_of_reach(std::span<const Need> needs, int device);
  void share(std::span<const Need> needs, int device);
  void read_ahead(std::span<const Incoming> incoming, int device);
  void ask_prefetcher(const RangeState& range, std::uint64_t chunk, int device, bool resident);
  bool serve_prefetch();
  void bring_ahead(std::span<const Resident> chunks, int device);
  bool bring_in(std::vector<Incoming>& incoming, int device, bool everywhere);
  bool take_places(std::vector<Incoming>& incoming, int device, bool everywhere, std::vector<Victim>& victims);
  vmm::Status take_by_force(Incoming& in);
  void bring_slice(std::span<Incoming> incoming, std::span<Victim> victims);
  vmm::Status grant_access(std::span<Incoming> mapped, bool no_more);
  bool unmap_incoming(Incoming& in);
  void back_to_host(const Incoming& in);
  void undo(std::span<Incoming> incoming, std::size_t mapped, std::span<Victim> victims,
            bool restore_victims);
  void settle(const Incoming& in, std::uint64_t pins, std::uint64_t lease, bool prefetched);

  // pager_fill.cpp
  void fill(std::span<Incoming> incoming);
  Staging& staging(Bytes chunk_bytes);
  static std::byte* next_slot(Staging& ring);
  static void slot_busy(Staging& ring, const std::byte* slot, CopyQueue& queue, std::uint64_t ticket);

  // pager_evict.cpp
  void tell_back(const RangeState& range, std::uint64_t chunk, int device, bool dirty);
  void add_resident(RangeState& range, std::uint64_t chunk, int device);
  void remove_resident(RangeState& range, std::uint64_t chunk, int device);
  std::optional<Victim> choose_victim(int device);
  void take_back(const Victim& victim);
  void undo_leave(std::span<Victim> victims);
  void copy_out(std::span<WriteBack> chunks);
  void start_write_backs(std::span<const Resident> chunks);
  bool finish_write_back(bool wait);
  bool finish_write_backs(bool wait);
  void note_write_back(RangeState& range, std::uint64_t chunk);
  void write_back(std::span<Victim> victims);
  void leave(std::span<Victim> victims);
  void leave_for_peers(std::span<Victim> victims);
  std::byte* landing_of(Device& device, Bytes bytes);
  void restore(Victim& victim);
  void drop_frame(Victim& victim);
  void poison(RangeState& range, std::uint64_t chunk, int device, vmm::Frame frame);
  void map_host_frame(RangeState& range, std::uint64_t chunk);
  void clean_ahead(Device& device);
  void shrink(Device& device);

  static constexpr std::size_t clean_ahead_of = 32;
  static constexpr std::int64_t spin_ns = 50'000;  // before sleeping, where there are cores to spare

  std::unique_ptr<vmm::Driver> driver_;
  const Config config_;
  HostMemory host_memory_;
  SlotsBySize slots_;
  StreamUses uses_;
  Mapper mapper_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<Reader> readers_;  // [device]
  bool all_reach_ = true;        // each device every other
  AccessLog log_;
  std::unique_ptr<TraceWriter> trace_;
  std::unique_ptr<Timeline> timeline_;
  std::atomic<bool> closed_{false};
  tbb::task_arena io_{std::min(4, tbb::info::default_concurrency())};  // more, and TBB warns
  // The pager's own.
  std::vector<std::unique_ptr<RangeState>> ranges_;
  std::deque<std::shared_ptr<Pending>> parked_;
  std::deque<WriteBack> write_backs_;
  std::deque<Task*> asked_;  // taken from tasks_, not done
  std::map<Bytes, Staging> staging_;
  Schedule schedule_;
  std::vector<Key> wanted_;  // by a prefetcher, while it is asked
  bool writes_seen_ = false;
  int last_served_ = 0;       // a device
  bool over_budget_ = false;  // more frames than the budget, all pinned

  // Shared with callers: first what every hit reads and few write, in a cache line of its own.
  alignas(64) std::atomic<bool> crowded_{false};  // a demand is parked: hits of threads without leases queue up behind it
  std::atomic<bool> pins_wanted_{false};          // releases are to be fenced at once
  std::atomic<std::uint64_t> next_lease_{1};
  alignas(64) std::atomic<bool> log_is_long_{false};
  std::atomic<bool> posted_{false};
  std::mutex own_streams_lock_;
  std::map<int, Stream> own_streams_;  // by device
  std::atomic<std::uint64_t> stalls_{0};
  std::atomic<std::int64_t> stalled_{0};
  mutable std::mutex lock_;
  std::condition_variable wake_;
  std::condition_variable task_done_;
  std::deque<std::shared_ptr<Pending>> demands_;
  std::deque<Prefetch> prefetches_;
  std::deque<Task*> tasks_;
  bool stopping_ = false;
  const bool may_spin_;
  std::jthread thread_;
};

}  // namespace holdall
