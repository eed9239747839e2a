// A file that is read by position. A file cut short meanwhile is an error, not a signal.
#pragma once

#include <cstddef>
#include <filesystem>

#include "engine/vmm/bytes.hpp"

namespace holdall::embedding {

class File {
 public:
  // Throws EmbeddingError: missing, a directory or pipe, not readable.
  explicit File(std::filesystem::path path);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::filesystem::path& path() const { return path_; }
  Bytes bytes() const { return bytes_; }  // when opened
  // Thread-safe. Throws EmbeddingError where the file ends before.
  void read(Bytes offset, void* to, Bytes bytes) const;

 private:
  std::filesystem::path path_;
  int handle_ = -1;
  Bytes bytes_ = 0;
};

}  // namespace holdall::embedding
