#include "apps/file/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace holdall::files {

namespace {

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

[[noreturn]] void raise(Refuse refuse, const Problem& problem) {
  refuse(problem);
  throw std::logic_error("a problem with a file was not refused: " + problem.message());
}

}  // namespace

std::string Problem::message() const {
  std::string text = file.string();
  if (at) text += fmt::format(", byte {}", *at);
  text += ": " + what;
  if (!remedy.empty()) text += "; " + remedy;
  return text;
}

void fail(Refuse refuse, const std::filesystem::path& path, std::string_view doing, int error) {
  raise(refuse, {path, std::nullopt, fmt::format("cannot {}: {}", doing, std::strerror(error)),
                 remedy_of(error)});
}

void write_all(int handle, Bytes offset, const void* from, std::size_t bytes, Refuse refuse,
               const std::filesystem::path& path, std::string_view doing) {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t n = ::pwrite(handle, static_cast<const char*>(from) + done, bytes - done,
                               static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(refuse, path, doing);
    done += static_cast<std::size_t>(n);
  }
}

File::File(std::filesystem::path path, Refuse refuse) : path_(std::move(path)), refuse_(refuse) {
  // Not blocking, so that a pipe without a writer is refused rather than waited for.
  handle_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (handle_ < 0) fail(refuse_, path_, "open it");
  struct stat status {};
  if (::fstat(handle_, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(handle_);
    raise(refuse_, {path_, {}, "is no ordinary file", "put its contents into a file first"});
  }
  bytes_ = file_bytes_ = static_cast<Bytes>(status.st_size);
  modified_ns_ = nanoseconds(status.st_mtim);
  contents_ = handle_;
}

File::~File() {
  if (contents_ != handle_) ::close(contents_);
  ::close(handle_);
}

void File::read_instead(int contents, Bytes bytes) {
  if (contents_ != handle_) ::close(contents_);
  contents_ = contents;
  bytes_ = bytes;
}

std::size_t File::read_some(Bytes offset, void* to, std::size_t bytes) const {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t n = ::pread(contents_, static_cast<char*>(to) + done, bytes - done,
                              static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(refuse_, path_, "read it");
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

void File::read(Bytes offset, void* to, std::size_t bytes) const {
  const std::size_t done = read_some(offset, to, bytes);
  if (done < bytes)
    raise(refuse_,
          {path_, offset + done, fmt::format("the file ends, {} bytes early", bytes - done),
           "get the whole file"});
}

void File::check_unchanged() const {
  struct stat status {};
  if (::fstat(handle_, &status) != 0) fail(refuse_, path_, "look at it");
  if (static_cast<Bytes>(status.st_size) != file_bytes_ ||
      nanoseconds(status.st_mtim) != modified_ns_)
    raise(refuse_, {path_, {}, "the file was changed while it was read", "read it again"});
}

NewFile::NewFile(std::filesystem::path path, Refuse refuse)
    : path_(std::move(path)), refuse_(refuse) {
  struct stat status {};
  if (::stat(path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    raise(refuse_,
          {path_, {}, "is no ordinary file and cannot be replaced", "choose another name"});
  try {
    file_.emplace(path_);
  } catch (const std::system_error& e) {
    fail(refuse_, path_, "create it", e.code().value());
  }
}

void NewFile::write(Bytes offset, const void* from, std::size_t bytes) {
  write_all(file_->handle(), offset, from, bytes, refuse_, path_, "write it");
}

void NewFile::resize(Bytes bytes) {
  if (::ftruncate(file_->handle(), static_cast<off_t>(bytes)) != 0)
    fail(refuse_, path_, "write it");
}

void NewFile::finish() {
  try {
    file_->finish();
  } catch (const std::system_error& e) {
    fail(refuse_, path_, "write it", e.code().value());
  }
}

}  // namespace holdall::files
