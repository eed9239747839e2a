// The TBB arena that a stream's kernels and copies run in. It answers, from inside a signal handler
// on any of its threads, whose work the thread does.
#pragma once

#include <tbb/task_arena.h>
#include <tbb/task_scheduler_observer.h>

#include <atomic>

#include "engine/vmm/host/sticky.hpp"

namespace holdall::vmm {

// ThreadSanitizer sees no order between TBB's workers, since TBB is not built for it: there, a
// stream's work keeps to the stream's own thread.
#if defined(__SANITIZE_THREAD__)
constexpr int arena_threads = 1;
#else
constexpr int arena_threads = tbb::task_arena::automatic;
#endif

// Arenas are kept and used again, never destroyed: a TBB worker may leave one long after the stream
// is gone.
class StreamArena {
 public:
  // What the work of this arena is charged to, until `give`.
  static StreamArena& take(Sticky& device, unsigned stream);
  void give();

  // Runs `work` on this thread and the TBB workers that join it.
  template <typename Work>
  void run(Work&& work) {
    arena_.execute(std::forward<Work>(work));
  }

  // nullptr: no stream owns the arena any more. Async-signal-safe.
  Sticky* device() const noexcept { return device_.load(std::memory_order_acquire); }
  unsigned stream() const noexcept { return stream_.load(std::memory_order_relaxed); }

  // The arena whose work this thread does; nullptr: none. Async-signal-safe.
  static StreamArena* current() noexcept;

  // This thread works for `arena` while it lives. Nests.
  class Scope {
   public:
    explicit Scope(StreamArena& arena) noexcept;
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    StreamArena* outer_;
  };

 private:
  class Entry : public tbb::task_scheduler_observer {
   public:
    explicit Entry(StreamArena& arena);
    void on_scheduler_entry(bool worker) override;
    void on_scheduler_exit(bool worker) override;

   private:
    StreamArena& arena_;
  };

  StreamArena() : entry_(*this) {}

  std::atomic<Sticky*> device_{nullptr};
  std::atomic<unsigned> stream_{0};
  tbb::task_arena arena_{arena_threads};
  Entry entry_;
};

}  // namespace holdall::vmm
