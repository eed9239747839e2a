#include "engine/vmm/host_arena.hpp"

#include <mutex>
#include <vector>

#if defined(__SANITIZE_THREAD__)
// What TBB does inside itself is not to be reported: ThreadSanitizer sees only half of it.
extern "C" const char* __tsan_default_suppressions() {
  return "called_from_lib:libtbb.so\n"
         // Tasks made in memory that another thread had before.
         "race:new_object<tbb::detail\n"
         "race:offer_work_impl<tbb::detail\n";
}
#endif

namespace holdall::vmm {

namespace {

// initial-exec: the signal handler must not be the first to touch it, and so allocate it.
[[gnu::tls_model("initial-exec")]] constinit thread_local StreamArena* on_this_thread = nullptr;

struct Idle {
  std::mutex mutex;
  std::vector<StreamArena*> arenas;
};

Idle& idle() {
  static Idle& it = *new Idle;  // outlives every stream, even one of a static driver
  return it;
}

}  // namespace

StreamArena& StreamArena::take(Sticky& device, unsigned stream) {
  StreamArena* arena = nullptr;
  {
    const std::lock_guard lock(idle().mutex);
    if (!idle().arenas.empty()) {
      arena = idle().arenas.back();
      idle().arenas.pop_back();
    }
  }
  if (arena == nullptr) arena = new StreamArena;
  arena->stream_.store(stream, std::memory_order_relaxed);
  arena->device_.store(&device, std::memory_order_release);
  return *arena;
}

void StreamArena::give() {
  device_.store(nullptr, std::memory_order_release);
  const std::lock_guard lock(idle().mutex);
  idle().arenas.push_back(this);
}

StreamArena* StreamArena::current() noexcept { return on_this_thread; }

StreamArena::Scope::Scope(StreamArena& arena) noexcept : outer_(on_this_thread) {
  on_this_thread = &arena;
}

StreamArena::Scope::~Scope() { on_this_thread = outer_; }

StreamArena::Entry::Entry(StreamArena& arena)
    : tbb::task_scheduler_observer(arena.arena_), arena_(arena) {
  observe(true);
}

void StreamArena::Entry::on_scheduler_entry(bool worker) {
  if (worker) on_this_thread = &arena_;
}

void StreamArena::Entry::on_scheduler_exit(bool worker) {
  if (worker) on_this_thread = nullptr;
}

}  // namespace holdall::vmm
