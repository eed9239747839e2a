#include "engine/vmm/host/memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <vector>

namespace holdall::vmm {

namespace {
constexpr Bytes file_bytes = Bytes{1} << 52;  // addresses only: no page stands behind them
}

Bytes page_bytes() {
  static const auto bytes = static_cast<Bytes>(::sysconf(_SC_PAGESIZE));
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
