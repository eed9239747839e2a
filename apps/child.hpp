// Runs another program and keeps what it says.
#pragma once

#include <string>
#include <vector>

namespace holdall::apps {

struct Child {
  int status = 0;  // exit status; 128 and more: the signal that ended it
  std::string out, err;
};

// By its path, or by its name along PATH; "holdall" is this very program. Waits for its end.
// Throws std::runtime_error if it cannot be started.
Child run_child(const std::vector<std::string>& words);

// A file that is not there yet, and goes with the object.
class TemporaryPath {
 public:
  TemporaryPath();
  ~TemporaryPath();
  TemporaryPath(const TemporaryPath&) = delete;
  TemporaryPath& operator=(const TemporaryPath&) = delete;
  const std::string& path() const { return path_; }
  std::string contents() const;

 private:
  std::string path_;
};

}  // namespace holdall::apps
