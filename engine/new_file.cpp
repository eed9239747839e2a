#include "engine/new_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace holdall {

namespace {

[[noreturn]] void fail(const std::filesystem::path& path, int error = errno) {
  throw std::system_error(error, std::generic_category(), path.string());
}

struct Unfinished {
  std::mutex lock;
  std::set<const UnfinishedFile*> files;
};
Unfinished& unfinished() {
  static auto& all = *new Unfinished;  // outlives what is static
  return all;
}

bool is_ordinary_or_new(const std::filesystem::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode);
}

constexpr int flags = O_CREAT | O_TRUNC | O_CLOEXEC;

}  // namespace

UnfinishedFile::UnfinishedFile(std::filesystem::path path) : path_(std::move(path)) {
  const std::scoped_lock hold(unfinished().lock);
  handle_ = ::open(path_.c_str(), O_WRONLY | flags, 0666);
  if (handle_ < 0) fail(path_);
  unfinished().files.insert(this);
}

UnfinishedFile::UnfinishedFile(Temporary, const std::filesystem::path& prefix) {
  std::string name = prefix.string() + "XXXXXX";
  const std::scoped_lock hold(unfinished().lock);
  handle_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (handle_ < 0) fail(prefix);
  path_ = name;
  unfinished().files.insert(this);
}

UnfinishedFile UnfinishedFile::temporary(const std::filesystem::path& prefix) {
  return {Temporary{}, prefix};
}

UnfinishedFile::~UnfinishedFile() {
  const std::scoped_lock hold(unfinished().lock);
  ::close(handle_);
  if (unfinished().files.erase(this) == 1) ::unlink(path_.c_str());
}

void UnfinishedFile::keep_as(const std::filesystem::path& path) {
  const std::scoped_lock hold(unfinished().lock);
  if (::rename(path_.c_str(), path.c_str()) != 0) fail(path);
  unfinished().files.erase(this);
}

NewFile::NewFile(const std::filesystem::path& path) : path_(path) {
  if (!is_ordinary_or_new(path)) {
    handle_ = ::open(path.c_str(), O_WRONLY | flags, 0666);
    if (handle_ < 0) fail(path);
    return;
  }
  std::error_code none;
  if (std::filesystem::is_symlink(path, none)) {
    path_ = std::filesystem::weakly_canonical(path, none);
    if (none) fail(path, none.value());
  }
  unfinished_ = std::make_unique<UnfinishedFile>(path_.string() + ".unfinished");
  handle_ = unfinished_->handle();
}

NewFile::~NewFile() { close(); }

void NewFile::close() {
  stream_.reset();
  if (!unfinished_ && handle_ >= 0) ::close(handle_);
  unfinished_.reset();
  handle_ = -1;
}

std::FILE* NewFile::stream() {
  if (!stream_) {
    const int copy = ::fcntl(handle_, F_DUPFD_CLOEXEC, 0);
    if (copy < 0) fail(path_);
    stream_.reset(::fdopen(copy, "wb"));
    if (!stream_) {
      const int error = errno;
      ::close(copy);
      fail(path_, error);
    }
  }
  return stream_.get();
}

void NewFile::finish() {
  errno = 0;
  if (stream_ && (std::fflush(stream_.get()) != 0 || std::ferror(stream_.get()) != 0))
    fail(path_, errno != 0 ? errno : EIO);
  if (unfinished_) {
    if (::fsync(handle_) != 0) fail(path_);
    unfinished_->keep_as(path_);
  }
  close();
}

std::unique_lock<std::mutex> remove_unfinished_files() {
  std::unique_lock hold(unfinished().lock);
  for (const UnfinishedFile* const file : unfinished().files) ::unlink(file->path().c_str());
  unfinished().files.clear();
  return hold;
}

const char* remedy_of(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return "check the path";
    case ENOSPC:
    case EDQUOT:
      return "free some space or write elsewhere";
    case EACCES:
    case EPERM:
    case EROFS:
      return "check the permissions";
    default:
      return "";
  }
}

std::string why(int error) {
  const std::string_view remedy = remedy_of(error);
  return std::string(std::strerror(error)) + (remedy.empty() ? "" : "; ") + std::string(remedy);
}

}  // namespace holdall
