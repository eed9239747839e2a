#include "engine/vmm/host/slack.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <mutex>

namespace holdall::vmm {

namespace {

constexpr std::size_t page = 65536;  // a multiple of any system's
constexpr std::size_t pages = 128;   // every second one differs in protection: as many mappings
constinit std::atomic<void*> slack{nullptr};
std::mutex holding;

}  // namespace

bool hold_map_slack() {
  if (slack.load(std::memory_order_relaxed) != nullptr) return true;
  const std::lock_guard lock(holding);
  if (slack.load(std::memory_order_relaxed) != nullptr) return true;
  void* area = ::mmap(nullptr, pages * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (area == MAP_FAILED) return false;
  for (std::size_t i = 1; i < pages; i += 2)
    if (::mprotect(static_cast<std::byte*>(area) + i * page, page, PROT_READ) != 0) {
      ::munmap(area, pages * page);
      return false;
    }
  slack.store(area);
  return true;
}

bool drop_map_slack() noexcept {
  void* area = slack.exchange(nullptr);
  if (area == nullptr) return false;
  ::syscall(SYS_munmap, area, pages * page);
  return true;
}

}  // namespace holdall::vmm
