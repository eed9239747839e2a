// Files that appear under their names only when they are whole: traces, timelines, results.
//
//   NewFile file("run.trace");           // run.trace.unfinished, until
//   std::fwrite(..., file.stream());
//   file.finish();                       // here; else it goes with the object
//
// A program that a signal ends removes what is unfinished then: remove_unfinished_files().
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

namespace holdall {

// A file that goes with the object.
class UnfinishedFile {
 public:
  // A file that is there is emptied. Throws std::system_error.
  explicit UnfinishedFile(std::filesystem::path path);
  // One that was not there yet: PREFIX and a few letters. Throws std::system_error.
  static UnfinishedFile temporary(const std::filesystem::path& prefix);
  ~UnfinishedFile();
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  int handle() const { return handle_; }
  // Stays, under that name. Once. Throws std::system_error.
  void keep_as(const std::filesystem::path& path);

 private:
  struct Temporary {};
  UnfinishedFile(Temporary, const std::filesystem::path& prefix);

  std::filesystem::path path_;
  int handle_ = -1;
};

class NewFile {
 public:
  // What is there and no ordinary file, such as a pipe or /dev/null, is written to as it is; what a
  // link names is replaced, not the link. Throws std::system_error.
  explicit NewFile(const std::filesystem::path& path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  int handle() const { return handle_; }
  std::FILE* stream();  // buffered, upon the handle; for those who write from begin to end
  // Throws std::system_error if not all was written.
  void finish();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  void close();

  std::filesystem::path path_;
  std::unique_ptr<UnfinishedFile> unfinished_;  // none: a pipe or the like
  int handle_ = -1;
  std::unique_ptr<std::FILE, Close> stream_;
};

// Removes what is unfinished in this process, by any thread. While the answer is held, none is made
// and none is finished: hold it until the end of the process. Not for signal handlers, since it
// waits for a lock: call it from a thread that waits for the signal.
[[nodiscard]] std::unique_lock<std::mutex> remove_unfinished_files();

// What to do where a file cannot be written, by errno; may be empty.
const char* remedy_of(int error);
// "No space left on device; free some space or write elsewhere"
std::string why(int error);

}  // namespace holdall
