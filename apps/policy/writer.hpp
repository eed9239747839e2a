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
  // A file that is there stays as it is until `close`, and if that is never reached.
  // Throws LabError if the file cannot be made, or there is no such format.
  Writer(const std::string& path, const std::string& format);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  void append(const TraceRecord& record);  // throws LabError if the format cannot say it
  void close();                            // throws LabError if not all was written

 private:
  struct Close {
    void operator()(std::FILE* file) const {
      if (file != stdout) std::fclose(file);
    }
  };
  enum Format { holdall, oracle_general, csv, txt };

  std::string path_,
      unfinished_;  // what is written until then; empty: `path_` itself, a pipe perhaps
  Format format_;
  std::unique_ptr<std::FILE, Close> file_;
  std::uint64_t records_ = 0;
};

const std::vector<std::string>& written_formats();

}  // namespace holdall::lab
