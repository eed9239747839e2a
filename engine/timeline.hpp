// Paging events in the Chrome trace format, for chrome://tracing or Perfetto. Kept in memory,
// written at the end.
#pragma once

#include <cstdint>
#include <exception>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/new_file.hpp"

namespace holdall {

class Timeline {
 public:
  // Throws BackingError if the file cannot be made.
  explicit Timeline(const std::filesystem::path& path);
  // One stretch of time on a track ("pager", "copy in 0", "acquire"); times in ns of the steady
  // clock.
  void add(const char* what, std::string track, const std::string& range, std::uint64_t chunks,
           std::int64_t begin, std::int64_t end);
  // Once, at the end. Throws BackingError if not all of it reached the file. Where an exception
  // ends the engine, nothing is written.
  void write();

 private:
  struct Event {
    const char* what;
    std::string track;
    std::string range;
    std::uint64_t chunks;
    std::int64_t begin, end;
  };
  const std::filesystem::path path_;
  std::optional<NewFile> file_;
  const int exceptions_ = std::uncaught_exceptions();
  std::mutex lock_;
  std::vector<Event> events_;
};

}  // namespace holdall
