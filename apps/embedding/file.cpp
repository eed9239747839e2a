#include "apps/embedding/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "apps/embedding/error.hpp"

namespace holdall::embedding {

namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const char* doing) {
  const int reason = errno;
  throw EmbeddingError(
      fmt::format("{}: cannot {}: {}", path.string(), doing, std::strerror(reason)));
}

}  // namespace

File::File(std::filesystem::path path) : path_(std::move(path)) {
  handle_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (handle_ < 0) fail(path_, "open it");
  struct stat status {};
  if (::fstat(handle_, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(handle_);
    throw EmbeddingError(fmt::format("{}: is no ordinary file", path_.string()));
  }
  bytes_ = static_cast<Bytes>(status.st_size);
}

File::~File() { ::close(handle_); }

void File::read(Bytes offset, void* to, Bytes bytes) const {
  Bytes done = 0;
  while (done < bytes) {
    const ssize_t n = ::pread(handle_, static_cast<char*>(to) + done, bytes - done,
                              static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(path_, "read it");
    if (n == 0)
      throw EmbeddingError(fmt::format("{}: ends at byte {}, but there should be {} more",
                                       path_.string(), offset + done, bytes - done));
    done += static_cast<Bytes>(n);
  }
}

}  // namespace holdall::embedding
