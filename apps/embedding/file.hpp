// Files of tables; what is wrong with them is an EmbeddingError.
#pragma once

#include <utility>

#include "apps/embedding/error.hpp"
#include "apps/file/file.hpp"

namespace holdall::embedding {

[[noreturn]] inline void refuse_file(const files::Problem& problem) {
  throw EmbeddingError(problem.message());
}

class File : public files::File {
 public:
  explicit File(std::filesystem::path path) : files::File(std::move(path), refuse_file) {}
};

class NewFile : public files::NewFile {
 public:
  explicit NewFile(std::filesystem::path path) : files::NewFile(std::move(path), refuse_file) {}
};

}  // namespace holdall::embedding
