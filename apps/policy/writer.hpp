// Writing traces.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "engine/new_file.hpp"
#include "engine/trace.hpp"

namespace holdall::lab {

// To a file, or to standard output ("-"). Formats: holdall, oracleGeneral, csv, txt.
class Writer {
 public:
  // A file that is there stays as it is until `close`, and if that is never reached.
  // Throws LabError if the file cannot be made, or there is no such format.
  Writer(const std::string& path, const std::string& format);
  // Throws LabError if the format cannot say it, or it cannot be written.
  void append(const TraceRecord& record);
  void close();  // throws LabError if not all was written

 private:
  enum Format { holdall, oracle_general, csv, txt };
  [[noreturn]] void fail(int error) const;

  std::string path_;
  std::optional<NewFile> file_;  // none: standard output
  std::FILE* stream_ = nullptr;
  Format format_;
  std::uint64_t records_ = 0;
};

const std::vector<std::string>& written_formats();

}  // namespace holdall::lab
