#include "engine/vmm/host/memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <vector>

namespace holdall::vmm {

namespace {
constexpr Bytes large_page = 2_MiB;
constexpr int collapse = 25;  // MADV_COLLAPSE, of Linux 6.1; not every C library names it yet
constexpr Bytes file_bytes = Bytes{1} << 52;  // addresses only: no page stands behind them
}  // namespace

Bytes page_bytes() {
  static const auto bytes = static_cast<Bytes>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

Bytes machine_bytes() {
  static const Bytes bytes = static_cast<Bytes>(::sysconf(_SC_PHYS_PAGES)) * page_bytes();
  return bytes;
}

HostMemory::HostMemory(const char* name, Bytes capacity)
    : file_(::memfd_create(name, MFD_CLOEXEC)), capacity_(capacity) {
  if (file_ < 0) throw std::system_error(errno, std::generic_category(), "memfd_create");
  if (::ftruncate(file_, static_cast<off_t>(file_bytes)) != 0) {
    const int error = errno;
    ::close(file_);
    throw std::system_error(error, std::generic_category(), "ftruncate of a memfd");
  }
}

HostMemory::~HostMemory() { ::close(file_); }

std::optional<Bytes> HostMemory::take(Bytes bytes) {
  if (bytes > capacity_ - taken_) return std::nullopt;
  auto& again = given_[bytes];
  Bytes offset = end_;
  if (!again.empty()) {
    offset = *again.begin();
    again.erase(again.begin());
  } else if (bytes > file_bytes - end_) {
    return std::nullopt;
  } else {
    end_ += bytes;
  }
  taken_ += bytes;
  return offset;
}

void HostMemory::give(Bytes offset, Bytes bytes) {
  given_[bytes].insert(offset);
  taken_ -= bytes;
}

void HostMemory::make_large(Bytes offset, Bytes bytes) const noexcept {
  if (offset % large_page != 0 || bytes % large_page != 0 || capacity_ > machine_bytes() / 2)
    return;
  // Collapsing wants a mapping, aligned as the file is, and a page of each large one to be there.
  void* const space = ::mmap(nullptr, bytes + large_page, PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED) return;
  const auto start = round_up(reinterpret_cast<std::uintptr_t>(space), large_page);
  auto* const at = static_cast<volatile char*>(
      ::mmap(reinterpret_cast<void*>(start), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
             file_, static_cast<off_t>(offset)));
  if (at != MAP_FAILED) {
    for (Bytes page = 0; page < bytes; page += large_page) at[page] = at[page];
    ::madvise(reinterpret_cast<void*>(start), bytes, collapse);
  }
  ::munmap(space, bytes + large_page);
}

bool HostMemory::poison(Bytes offset, Bytes bytes, int byte) const {
  const std::vector<unsigned char> block(std::min(bytes, 1_MiB), static_cast<unsigned char>(byte));
  for (Bytes done = 0; done < bytes;) {
    const Bytes next = std::min<Bytes>(block.size(), bytes - done);
    const ssize_t n = ::pwrite(file_, block.data(), next, static_cast<off_t>(offset + done));
    if (n <= 0) return false;
    done += static_cast<Bytes>(n);
  }
  return true;
}

void HostMemory::discard(Bytes offset, Bytes bytes) const noexcept {
  ::fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
              static_cast<off_t>(bytes));
}

}  // namespace holdall::vmm
