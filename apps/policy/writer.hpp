// Writing traces.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "engine/trace.hpp"

namespace holdall::lab {

// To a file, or to standard output ("-"). Formats: holdall, oracleGeneral, csv, txt.
class Writer {
 public:
  // Throws LabError if the file cannot be made, or there is no such format.
  Writer(const std::string& path, const std::string& format);
  void append(const TraceRecord& record);  // throws LabError if the format cannot say it
  void close();                            // throws LabError if not all was written

 private:
  struct Close {
    void operator()(std::FILE* file) const {
      if (file != stdout) std::fclose(file);
    }
  };
  enum Format { holdall, oracle_general, csv, txt };

  std::string path_;
  Format format_;
  std::unique_ptr<std::FILE, Close> file_;
  std::uint64_t records_ = 0;
};

const std::vector<std::string>& written_formats();

}  // namespace holdall::lab
