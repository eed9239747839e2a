#include "engine/vmm/host/fault.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <set>

#include "engine/vmm/host/arena.hpp"
#include "engine/vmm/host/slack.hpp"

namespace holdall::vmm {

namespace {

constinit std::atomic<WatchedRange*> ranges{nullptr};
constinit std::atomic<bool> installed{false};
std::mutex watching;  // of those who change `ranges`; never taken by the handler

struct sigaction segv_before;
struct sigaction bus_before;

// Keeps what a read-only granule held while scratch lies over it. One granule a fault.
constinit int snapshots = -1;
constinit std::atomic<Bytes> snapshots_end{0};

WatchedRange* find(Address address) noexcept {
  for (WatchedRange* r = ranges.load(std::memory_order_acquire); r != nullptr; r = r->next)
    if (r->begin.load(std::memory_order_acquire) <= address &&
        address < r->end.load(std::memory_order_acquire))
      return r;
  return nullptr;
}

Touch::Kind kind_of([[maybe_unused]] const ucontext_t& context, [[maybe_unused]] bool& fetch) {
#if defined(__x86_64__)
  const auto error = context.uc_mcontext.gregs[REG_ERR];  // the CPU's page fault error code
  fetch = (error & 16) != 0;
  return (error & 2) != 0 ? Touch::write : Touch::read;
#else
  return Touch::either;
#endif
}

// System calls by number: the library's mmap may be a sanitizer's, and that is not for handlers.
bool put_scratch(Address granule, int file, Bytes offset) noexcept {
  const int flags = MAP_FIXED | MAP_PRIVATE | MAP_NORESERVE | (file < 0 ? MAP_ANONYMOUS : 0);
  const auto put = [&] {
    return ::syscall(SYS_mmap, granule, host_granule, PROT_READ | PROT_WRITE, flags, file, offset);
  };
  return put() != -1 || (errno == ENOMEM && drop_map_slack() && put() != -1);
}

// True: the faulting instruction can run again.
bool absorb(const siginfo_t& info, const ucontext_t& context) noexcept {
  const StreamArena* arena = StreamArena::current();
  Sticky* device = arena == nullptr ? nullptr : arena->device();
  if (device == nullptr || info.si_code <= 0) return false;  // <= 0: somebody's kill()
  const auto address = reinterpret_cast<Address>(info.si_addr);
  const WatchedRange* range = find(address);
  bool fetch = false;
  const Touch::Kind kind = kind_of(context, fetch);
  if (range == nullptr || fetch) return false;

  // The kernel answers EFAULT for a source that can't be read; so this tells read-only memory from
  // none, and saves what it holds.
  const Address granule = address / host_granule * host_granule;
  const Bytes kept = snapshots_end.fetch_add(host_granule);
  const bool readable = ::syscall(SYS_pwrite64, snapshots, granule, host_granule, kept) ==
                        static_cast<long>(host_granule);
  device->set(Touch{.address = address,
                    .offset = address - range->begin.load(std::memory_order_relaxed),
                    .label = range->label.load(std::memory_order_acquire),
                    .kind = kind,
                    .readable = readable,
                    .bus = info.si_signo == SIGBUS,
                    .stream = arena->stream()});
  if (!put_scratch(granule, readable ? snapshots : -1, readable ? kept : 0)) return false;
  range->scratch.load(std::memory_order_acquire)->add(granule);
  return true;
}

void pass_on(int signal, siginfo_t* info, void* context) {
  const struct sigaction& before = signal == SIGBUS ? bus_before : segv_before;
  if ((before.sa_flags & SA_SIGINFO) != 0) return before.sa_sigaction(signal, info, context);
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
    return before.sa_handler(signal);
  // The instruction runs again and ends the process; a signal that somebody sent is sent again.
  ::signal(signal, SIG_DFL);
  if (info->si_code <= 0) ::raise(signal);
}

void on_fault(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  if (!absorb(*info, *static_cast<ucontext_t*>(context))) pass_on(signal, info, context);
  errno = error;
}

void install() {
  snapshots = ::memfd_create("holdall-snapshots", MFD_CLOEXEC);
  struct sigaction ours {};
  ours.sa_sigaction = on_fault;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigemptyset(&ours.sa_mask);
  ::sigaction(SIGSEGV, nullptr, &segv_before);
  ::sigaction(SIGBUS, nullptr, &bus_before);
  ::sigaction(SIGSEGV, &ours, nullptr);
  ::sigaction(SIGBUS, &ours, nullptr);
}

// The handler may read a label at any time, so labels live for ever, each once.
const std::string& interned(const std::string& label) {
  static std::set<std::string>& labels = *new std::set<std::string>;
  return *labels.insert(label).first;
}

}  // namespace

void ScratchLog::add(Address granule) noexcept {
  for (auto& place : granules_) {
    Address empty = 0;
    if (place.compare_exchange_strong(empty, granule) || empty == granule) break;
  }
  any_.store(true, std::memory_order_release);
}

std::vector<Address> ScratchLog::take() {
  std::vector<Address> taken;
  if (!any_.exchange(false)) return taken;
  for (auto& place : granules_)
    if (const Address granule = place.exchange(0); granule != 0) taken.push_back(granule);
  return taken;
}

WatchedRange& watch(Address begin, Bytes bytes, const std::string& label, ScratchLog& scratch) {
  const std::lock_guard lock(watching);
  if (!installed.exchange(true)) install();
  WatchedRange* range = ranges.load(std::memory_order_relaxed);
  while (range != nullptr && range->end.load(std::memory_order_relaxed) != 0) range = range->next;
  if (range == nullptr) {
    range = new WatchedRange;
    range->next = ranges.load(std::memory_order_relaxed);
    ranges.store(range, std::memory_order_release);
  }
  range->label.store(&interned(label), std::memory_order_release);
  range->scratch.store(&scratch, std::memory_order_release);
  range->begin.store(begin, std::memory_order_release);
  range->end.store(begin + bytes, std::memory_order_release);
  return *range;
}

void unwatch(WatchedRange& range) {
  const std::lock_guard lock(watching);
  range.end.store(0, std::memory_order_release);
}

}  // namespace holdall::vmm
