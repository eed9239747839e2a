// Runs another program and keeps what it says.
#pragma once

#include <string>
#include <vector>

#include "engine/new_file.hpp"

namespace holdall::apps {

struct Child {
  int status = 0;  // exit status; 128 and more: the signal that ended it
  std::string out, err;
};

// By its path, or by its name along PATH; "holdall" is this very program. Waits for its end.
// Throws std::runtime_error if it cannot be started.
Child run_child(const std::vector<std::string>& words);

// The same for one that says what it says itself; the answer is `Child::status`. Throws
// std::system_error.
int run_aloud(const std::vector<std::string>& words);

// A file that goes with the object, or with the process.
class TemporaryPath {
 public:
  // Throws std::runtime_error where no file can be made.
  TemporaryPath();
  std::string path() const { return file_.path().string(); }
  std::string contents() const;

 private:
  UnfinishedFile file_;
};

}  // namespace holdall::apps
