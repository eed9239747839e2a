#include "engine/vmm/host/arena.hpp"

#include <pthread.h>

#include <mutex>
#include <system_error>
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

// The StreamArena that a thread works for. A key, since the signal handler asks on any thread: a thread_local might be
// allocated there, unless it is of the initial-exec model, which keeps a library from being loaded at run time.
const pthread_key_t on_this_thread = [] {
  pthread_key_t key{};
  if (const int error = pthread_key_create(&key, nullptr))
    throw std::system_error(error, std::generic_category(), "make a key of threads");
  return key;
}();
void work_for(StreamArena* arena) noexcept { (void)pthread_setspecific(on_this_thread, arena); }

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

StreamArena* StreamArena::current() noexcept {
  return static_cast<StreamArena*>(pthread_getspecific(on_this_thread));
}

StreamArena::Scope::Scope(StreamArena& arena) noexcept : outer_(current()) { work_for(&arena); }

StreamArena::Scope::~Scope() { work_for(outer_); }

StreamArena::Entry::Entry(StreamArena& arena)
    : tbb::task_scheduler_observer(arena.arena_), arena_(arena) {
  observe(true);
}

void StreamArena::Entry::on_scheduler_entry(bool worker) {
  if (worker) work_for(&arena_);
}

void StreamArena::Entry::on_scheduler_exit(bool worker) {
  if (worker) work_for(nullptr);
}

}  // namespace holdall::vmm
