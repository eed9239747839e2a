// Traces small enough to write by hand, and the recorded ones where they are at hand.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "apps/policy/trace.hpp"

namespace holdall::lab {

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& contents = {}) {
    std::string pattern = (std::filesystem::temp_directory_path() / "holdall-lab-XXXXXX").string();
    const int handle = ::mkstemp(pattern.data());
    EXPECT_GE(handle, 0);
    ::close(handle);
    path_ = pattern;
    std::ofstream(path_, std::ios::binary) << contents;
  }
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Little-endian bytes.
template <class T>
std::string raw(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

inline std::vector<TraceRecord> all_of(const std::string& path, const ReadOptions& options = {}) {
  const auto reader = open_trace(path, options);
  std::vector<TraceRecord> all, some(7);
  while (const std::size_t n = reader->read(some))
    all.insert(all.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(n));
  return all;
}

// What `path` was read as, or the message.
inline std::string message_of(const std::string& path, const ReadOptions& options = {}) {
  try {
    const auto reader = open_trace(path, options);
    std::vector<TraceRecord> some(64);
    while (reader->read(some) > 0) {
    }
    return reader->format();
  } catch (const std::runtime_error& e) {
    return e.what();
  }
}

// The folder of recorded traces: in the folder that HOLDALL_DATA names, or in shared/data beside
// the source tree.
inline std::optional<std::filesystem::path> recorded() {
  const char* const named = std::getenv("HOLDALL_DATA");
  const auto folder = (named ? std::filesystem::path(named)
                             : std::filesystem::path(HOLDALL_SOURCE_ROOT) / ".." / "shared/data") /
                      "traces";
  return std::filesystem::is_directory(folder) ? std::optional(folder) : std::nullopt;
}

}  // namespace holdall::lab
