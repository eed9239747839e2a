// What is wrong with a trace or with what is asked of it. The message names the file, the record,
// its offset, the bad value and the remedy.
#pragma once

#include <stdexcept>

namespace holdall::lab {

class LabError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace holdall::lab
