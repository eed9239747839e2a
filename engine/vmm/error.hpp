// The errors of Holdall: one small family. A message names the thing, the limit and the remedy.
#pragma once

#include <stdexcept>
#include <string>

#include "engine/vmm/driver.hpp"

namespace holdall {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A call of the GPU driver failed.
class DriverError : public Error {
 public:
  DriverError(vmm::Status status, const std::string& message) : Error(message), status_(status) {}
  vmm::Status status() const { return status_; }

 private:
  vmm::Status status_;
};

// A GPU was asked for and there is none that will do.
class NoDevice : public Error {
 public:
  using Error::Error;
};

}  // namespace holdall
