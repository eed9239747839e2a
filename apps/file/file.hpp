// A file opened for reading, or one being written that appears under its name only when complete.
// Positioned reads rather than a mapping: a file cut short meanwhile is an error, not a signal.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "engine/new_file.hpp"
#include "engine/vmm/bytes.hpp"

namespace holdall::files {

struct Problem {
  const std::filesystem::path& file;
  std::optional<Bytes> at;  // none: the file as a whole
  std::string what;
  std::string remedy;  // may be empty
  std::string message() const;
};
// Throws a problem as an error of those who use the file.
using Refuse = void (*)(const Problem&);

// Reads and writes are thread-safe.
class File {
 public:
  // Refuses what is missing, a directory or pipe, not readable.
  File(std::filesystem::path path, Refuse refuse);
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();

  const std::filesystem::path& path() const { return path_; }
  Bytes bytes() const { return bytes_; }                     // when opened
  std::int64_t modified_ns() const { return modified_ns_; }  // when opened

  // Up to `bytes` from `offset`; fewer only at the end of the file.
  std::size_t read_some(Bytes offset, void* to, std::size_t bytes) const;
  // Refuses where the file ends before.
  void read(Bytes offset, void* to, std::size_t bytes) const;
  // Refuses if the file was written to since it was opened.
  void check_unchanged() const;

 protected:
  // From now on reads `bytes` bytes of `contents` instead, a handle that it takes over.
  void read_instead(int contents, Bytes bytes);

 private:
  std::filesystem::path path_;
  Refuse refuse_;
  int handle_ = -1;
  int contents_ = -1;  // what is read
  Bytes bytes_ = 0;
  Bytes file_bytes_ = 0;
  std::int64_t modified_ns_ = 0;
};

// See engine/new_file.hpp.
class NewFile {
 public:
  // Refuses where there is no such directory or permission, or `path` is no ordinary file.
  NewFile(std::filesystem::path path, Refuse refuse);

  // Refuse with the system's reason, such as a full disk.
  void write(Bytes offset, const void* from, std::size_t bytes);
  void resize(Bytes bytes);
  void finish();

 private:
  std::filesystem::path path_;
  Refuse refuse_;
  std::optional<holdall::NewFile> file_;
};

// What both are made of. Refuses a failed call: "cannot write it: No space left ...".
[[noreturn]] void fail(Refuse refuse, const std::filesystem::path& path, std::string_view doing,
                       int error = errno);
void write_all(int handle, Bytes offset, const void* from, std::size_t bytes, Refuse refuse,
               const std::filesystem::path& path, std::string_view doing);

}  // namespace holdall::files
