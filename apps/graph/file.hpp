// A file opened for reading, or one being written that appears under its name only when complete.
// Positioned reads rather than a mapping: a file cut short meanwhile is an error, not a signal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <utility>

#include "apps/graph/graph_file.hpp"
#include "engine/vmm/bytes.hpp"

namespace holdall::graph {

// Reads and writes are thread-safe.
class File {
 public:
  // Throws GraphError: missing, a directory or pipe, not readable.
  explicit File(std::filesystem::path path) : File(std::move(path), Packed::as_it_is) {}
  // `unpacked`: what is packed by gzip, zstd or xz is unpacked into a temporary file without a
  // name, which takes the room of the contents where temporary files go ($TMPDIR). Offsets count
  // there.
  enum class Packed { as_it_is, unpacked };
  File(std::filesystem::path path, Packed packed);
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();

  const std::filesystem::path& path() const { return path_; }
  Bytes bytes() const { return bytes_; }                     // when opened; unpacked
  std::int64_t modified_ns() const { return modified_ns_; }  // when opened

  // Up to `bytes` from `offset`; fewer only at the end of the file.
  std::size_t read_some(Bytes offset, void* to, std::size_t bytes) const;
  // Throws GraphError where the file ends before.
  void read(Bytes offset, void* to, std::size_t bytes) const;
  // The same with all threads.
  void read_array(const FileArray& array, void* to) const;
  // Throws GraphError if the file was written to since it was opened.
  void check_unchanged() const;

 private:
  void unpack();

  std::filesystem::path path_;
  int handle_ = -1;
  int contents_ = -1;  // what is read: `handle_`, or the temporary file
  Bytes bytes_ = 0;
  Bytes file_bytes_ = 0;
  std::int64_t modified_ns_ = 0;
};

class NewFile {
 public:
  // Throws GraphError: no such directory, no permission, `path` is no ordinary file.
  explicit NewFile(std::filesystem::path path);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();  // removes what was written unless it was finished

  // Throws GraphError, with the system's reason, such as a full disk.
  void write(Bytes offset, const void* from, std::size_t bytes);
  void resize(Bytes bytes);
  void finish();

 private:
  std::filesystem::path path_;
  std::filesystem::path unfinished_;
  int handle_ = -1;
};

}  // namespace holdall::graph
