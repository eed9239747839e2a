#include "apps/graph/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "apps/graph/error.hpp"
#include "apps/graph/pieces.hpp"
#include "apps/packed/unpack.hpp"

namespace holdall::graph {

namespace {

[[noreturn]] void fail(const std::filesystem::path& path, std::string_view doing) {
  const int reason = errno;
  throw GraphError(path, {}, fmt::format("cannot {}: {}", doing, std::strerror(reason)),
                   reason == ENOENT   ? "check the path"
                   : reason == ENOSPC ? "free some space or write elsewhere"
                   : reason == EACCES ? "check the permissions"
                                      : "");
}

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

class Bytestream final : public packed::Source {
 public:
  Bytestream(const File& file, Bytes at) : file_(file), at_(at) {}
  std::size_t read(char* to, std::size_t size) override {
    const std::size_t n = file_.read_some(at_, to, size);
    at_ += n;
    return n;
  }

 private:
  const File& file_;
  Bytes at_;
};

void write_all(int handle, const std::filesystem::path& path, Bytes offset, const void* from,
               std::size_t bytes, std::string_view doing) {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t n = ::pwrite(handle, static_cast<const char*>(from) + done, bytes - done,
                               static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(path, doing);
    done += static_cast<std::size_t>(n);
  }
}

}  // namespace

File::File(std::filesystem::path path, Packed packed) : path_(std::move(path)) {
  // Not blocking, so that a pipe without a writer is refused rather than waited for.
  handle_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (handle_ < 0) fail(path_, "open it");
  struct stat status {};
  if (::fstat(handle_, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(handle_);
    throw GraphError(path_, {}, "is no ordinary file", "put the graph into a file first");
  }
  bytes_ = file_bytes_ = static_cast<Bytes>(status.st_size);
  modified_ns_ = nanoseconds(status.st_mtim);
  contents_ = handle_;
  if (packed == Packed::as_it_is) return;
  try {
    unpack();
  } catch (...) {
    if (contents_ != handle_) ::close(contents_);
    ::close(handle_);
    throw;
  }
}

File::~File() {
  if (contents_ != handle_) ::close(contents_);
  ::close(handle_);
}

void File::unpack() {
  std::string begin(packed::mark_bytes, '\0');
  begin.resize(read_some(0, begin.data(), begin.size()));
  if (!packed::is_packed(begin)) return;

  std::string name = (std::filesystem::temp_directory_path() / "holdall-unpacked-XXXXXX").string();
  const int temporary = ::mkostemp(name.data(), O_CLOEXEC);
  if (temporary < 0) fail(path_, "unpack it to " + name);
  ::unlink(name.c_str());
  try {
    const auto source =
        packed::unpacked(std::make_unique<Bytestream>(*this, begin.size()), begin, path_.string());
    std::vector<char> piece(1 << 20);
    Bytes end = 0;
    for (std::size_t n = 0; (n = source->read(piece.data(), piece.size())) > 0; end += n)
      write_all(temporary, path_, end, piece.data(), n, "unpack it to the folder of " + name);
    bytes_ = end;
  } catch (const packed::UnpackError& e) {
    ::close(temporary);
    throw GraphError(e.what());
  } catch (...) {
    ::close(temporary);
    throw;
  }
  contents_ = temporary;
}

std::size_t File::read_some(Bytes offset, void* to, std::size_t bytes) const {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t n = ::pread(contents_, static_cast<char*>(to) + done, bytes - done,
                              static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(path_, "read it");
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

void File::read(Bytes offset, void* to, std::size_t bytes) const {
  const std::size_t done = read_some(offset, to, bytes);
  if (done < bytes)
    throw GraphError(path_, Byte{offset + done},
                     fmt::format("the file ends, {} bytes early", bytes - done),
                     "get the whole file");
}

void File::read_array(const FileArray& array, void* to) const {
  for_each_piece(array.bytes(), [&](Bytes first, Bytes bytes) {
    read(array.offset + first, static_cast<char*>(to) + first, bytes);
  });
}

void File::check_unchanged() const {
  struct stat status {};
  if (::fstat(handle_, &status) != 0) fail(path_, "look at it");
  if (static_cast<Bytes>(status.st_size) != file_bytes_ ||
      nanoseconds(status.st_mtim) != modified_ns_)
    throw GraphError(path_, {}, "the file was changed while it was read", "read it again");
}

NewFile::NewFile(std::filesystem::path path)
    : path_(std::move(path)), unfinished_(path_.string() + ".unfinished") {
  struct stat status {};
  if (::stat(path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    throw GraphError(path_, {}, "is no ordinary file and cannot be replaced",
                     "choose another name");
  handle_ = ::open(unfinished_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (handle_ < 0) fail(path_, "create it");
}

NewFile::~NewFile() {
  if (handle_ < 0) return;
  ::close(handle_);
  ::unlink(unfinished_.c_str());
}

void NewFile::write(Bytes offset, const void* from, std::size_t bytes) {
  write_all(handle_, path_, offset, from, bytes, "write it");
}

void NewFile::resize(Bytes bytes) {
  if (::ftruncate(handle_, static_cast<off_t>(bytes)) != 0) fail(path_, "write it");
}

void NewFile::finish() {
  if (::fsync(handle_) != 0) fail(path_, "write it");
  if (::rename(unfinished_.c_str(), path_.c_str()) != 0) fail(path_, "name it");
  ::close(std::exchange(handle_, -1));
}

}  // namespace holdall::graph
