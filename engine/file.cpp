#include "engine/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "engine/error.hpp"

namespace holdall {

namespace {

constexpr Bytes block = 4096;  // alignment of direct reads and writes

// The least of the limits on the cgroup that this process is in and on those above it; ~0: none.
Bytes cgroup_limit() {
  Bytes least = ~Bytes{0};
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    // v2 "0::/a/b", v1 "4:memory:/a/b"; within a container /a/b may lie outside of what is mounted, whose root then counts.
    const bool v2 = line.starts_with("0::");
    const std::size_t controller = line.find(":memory:");
    if (!v2 && controller == std::string::npos) continue;
    std::string group = line.substr(v2 ? 3 : controller + 8);
    const std::string mount = v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    const char* const file = v2 ? "/memory.max" : "/memory.limit_in_bytes";
    for (;; group.resize(group.rfind('/'))) {
      if (group == "/") group.clear();
      if (Bytes bytes = 0; std::ifstream(mount + group + file) >> bytes)
        least = std::min(least, bytes);
      if (group.empty()) break;
    }
  }
  return least;
}

// Memory that the page cache may still take without being in anyone's way: what is available, under a cgroup's limit.
Bytes cache_room() {
  Bytes room = ~Bytes{0};
  std::ifstream meminfo("/proc/meminfo");
  for (std::string key; meminfo >> key; meminfo.ignore(256, '\n'))
    if (key == "MemAvailable:") {
      meminfo >> room;
      room *= 1024;
      break;
    }
  return std::min(room, cgroup_limit());
}

}  // namespace

File::File(const FileBacking& spec, const std::string& range, Bytes bytes)
    : path_(spec.path.string()), range_(range) {
  cached_ = open(path_.c_str(),
                 (spec.writable ? O_RDWR | O_CREAT : O_RDONLY) | O_CLOEXEC | O_NONBLOCK, 0644);
  if (cached_ < 0) fail("open", 0, errno);
  struct stat info {};
  if (fstat(cached_, &info) != 0) fail("open", 0, errno);
  const Bytes size = static_cast<Bytes>(info.st_size);
  const Bytes end = spec.offset + bytes;
  try {
    if (!S_ISREG(info.st_mode))
      throw BackingError(fmt::format("'{}', the backing of '{}', is no regular file", path_, range_));
    if (end < bytes || (size < end && !spec.writable))
      throw BackingError(fmt::format(
          "'{}' is too short to back '{}': it has {} bytes, the range needs {} from byte {} on",
          path_, range_, size, bytes, spec.offset));
    if (size < end && ftruncate(cached_, static_cast<off_t>(end)) != 0) fail("grow", end, errno);
  } catch (...) {
    close(cached_);
    throw;
  }
  const bool around = spec.caching == FileBacking::direct ||
                      (spec.caching == FileBacking::automatic && end > cache_room() / 2);
  if (around)
    direct_ = open(path_.c_str(), (spec.writable ? O_RDWR : O_RDONLY) | O_DIRECT | O_CLOEXEC);
}

File::~File() {
  close(cached_);
  if (direct_ >= 0) close(direct_);
}

void File::fail(const char* doing, Bytes at, int error) const {
  throw BackingError(fmt::format("cannot {} '{}', the backing of '{}', at byte {}: {}", doing, path_,
                                 range_, at, error ? std::strerror(error) : "the file ends there"));
}

void File::read(Bytes at, std::span<std::byte> to) {
  while (!to.empty()) {
    ssize_t n = -1;
    const bool aligned =
        at % block == 0 && reinterpret_cast<std::uintptr_t>(to.data()) % block == 0 && to.size() >= block;
    if (direct_ >= 0 && aligned) {
      n = pread(direct_, to.data(), to.size() / block * block, static_cast<off_t>(at));
    } else {
      n = pread(cached_, to.data(), to.size(), static_cast<off_t>(at));
      if (n > 0 && direct_ >= 0)
        (void)posix_fadvise(cached_, static_cast<off_t>(at), n, POSIX_FADV_DONTNEED);
    }
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail("read", at, n < 0 ? errno : 0);
    at += static_cast<Bytes>(n);
    to = to.subspan(static_cast<Bytes>(n));
  }
}

void File::write(Bytes at, std::span<const std::byte> from) {
  while (!from.empty()) {
    const bool aligned = at % block == 0 &&
                         reinterpret_cast<std::uintptr_t>(from.data()) % block == 0 &&
                         from.size() >= block;
    const ssize_t n =
        direct_ >= 0 && aligned
            ? pwrite(direct_, from.data(), from.size() / block * block, static_cast<off_t>(at))
            : pwrite(cached_, from.data(), from.size(), static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail("write", at, n < 0 ? errno : ENOSPC);
    at += static_cast<Bytes>(n);
    from = from.subspan(static_cast<Bytes>(n));
  }
}

void File::flush() {
  if (fdatasync(cached_) != 0) fail("flush", 0, errno);
}

}  // namespace holdall
