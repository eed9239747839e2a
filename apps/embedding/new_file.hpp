// A file being written, which appears under its name only when complete; and the headers of the
// formats that are written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "engine/vmm/bytes.hpp"
#include "kernels/row.hpp"

namespace holdall::embedding {

class NewFile {
 public:
  // Throws EmbeddingError: no such directory, no permission.
  explicit NewFile(std::filesystem::path path);
  ~NewFile();  // removes what was written unless it was finished
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(Bytes offset, const void* from, Bytes bytes);
  void finish();

 private:
  std::filesystem::path path_;
  std::filesystem::path unfinished_;
  int handle_ = -1;
};

std::string npy_header(kernels::RowType type, std::uint64_t rows, std::uint32_t dim);
// Of a tensor `rows` and, behind it, if `keyed`, one `keys`.
std::string safetensors_header(kernels::RowType type, std::uint64_t rows, std::uint32_t dim,
                               bool keyed);

}  // namespace holdall::embedding
