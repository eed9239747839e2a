// Rows that lie one behind the other in a file, and keys likewise: what all file formats come to.
#pragma once

#include <memory>
#include <string>

#include "apps/embedding/file.hpp"
#include "apps/embedding/source.hpp"

namespace holdall::embedding {

// An array of a file, of numbers.
struct FlatArray {
  std::shared_ptr<File> file;
  Bytes offset = 0;
};

// Throws EmbeddingError where a file ends before its array does.
std::unique_ptr<Source> flat_source(SourceInfo info, FlatArray rows, FlatArray keys = {});

// a * b, or an error about `file`.
std::uint64_t product(const File& file, std::uint64_t a, std::uint64_t b);

// How an error about a file begins: "items.npy: ".
[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why);

}  // namespace holdall::embedding
