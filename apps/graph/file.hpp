// Files of graphs, packed ones too; what is wrong with them is a GraphError.
#pragma once

#include <filesystem>
#include <utility>

#include "apps/file/file.hpp"
#include "apps/graph/graph_file.hpp"

namespace holdall::graph {

class File : public files::File {
 public:
  explicit File(std::filesystem::path path) : File(std::move(path), Packed::as_it_is) {}
  // `unpacked`: what is packed by gzip, zstd or xz is unpacked into a temporary file without a
  // name, which takes the room of the contents where temporary files go ($TMPDIR). Offsets and
  // bytes() count there.
  enum class Packed { as_it_is, unpacked };
  File(std::filesystem::path path, Packed packed);

  // As read, with all threads.
  void read_array(const FileArray& array, void* to) const;

 private:
  void unpack();
};

class NewFile : public files::NewFile {
 public:
  explicit NewFile(std::filesystem::path path);
};

}  // namespace holdall::graph
