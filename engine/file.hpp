// A file that backs a range: read and written at any offset by several threads, around the page cache where that pays.
#pragma once

#include <span>
#include <string>

#include "engine/backing.hpp"

namespace holdall {

class File {
 public:
  // Opens it; a writable one is made and grown as needed. Throws BackingError if it is missing, no regular file, or ends
  // before offset + bytes.
  File(const FileBacking& spec, const std::string& range, Bytes bytes);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  void read(Bytes at, std::span<std::byte> to);
  void write(Bytes at, std::span<const std::byte> from);
  void flush();

 private:
  [[noreturn]] void fail(const char* doing, Bytes at, int error) const;

  std::string path_;
  std::string range_;
  int cached_ = -1;
  int direct_ = -1;  // O_DIRECT; -1: not used
};

}  // namespace holdall
