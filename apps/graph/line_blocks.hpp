// A text file cut into blocks that hold whole lines, for threads to take one each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apps/graph/file.hpp"

namespace holdall::graph {

class LineBlocks {
 public:
  // From byte `begin` of `file`, where a line begins; `file` must outlive this.
  LineBlocks(const File& file, Bytes begin) : file_(file), begin_(begin) {}

  std::uint64_t size() const;
  // The lines that begin in a block, the last with its end even where the file has none;
  // `first_byte` is where they begin in the file. They lie in `buffer`. Throws GraphError for a
  // line of more than 64 MiB.
  std::string_view read(std::uint64_t block, std::vector<char>& buffer, Bytes& first_byte) const;
  // Throws the GraphError of the line that byte `at` of the file is in.
  [[noreturn]] void fail(Bytes at, const std::string& problem) const;

  const File& file() const { return file_; }

 private:
  const File& file_;
  const Bytes begin_;
};

// The number of line ends in `text`: \n, \r\n and \r all are.
std::uint64_t count_lines(std::string_view text);

}  // namespace holdall::graph
