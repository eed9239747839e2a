// What the engine throws, besides DriverError and NoDevice. On a throw nothing has changed: residency, pins and contents
// are as they were.
#pragma once

#include "engine/vmm/error.hpp"

namespace holdall {

// The chunks of one acquire exceed the memory that could ever be free for it.
class WorkingSetTooLarge : public Error {
 public:
  WorkingSetTooLarge(const std::string& message, Bytes needed, Bytes available)
      : Error(message), needed(needed), available(available) {}
  Bytes needed;
  Bytes available;
};

// Pinned host memory is used up: the budget, or what the system pins.
class OutOfHostMemory : public Error {
 public:
  using Error::Error;
};

// The wait for other leases can never end, since those who hold them wait too, or are the caller.
class WouldDeadlock : public Error {
 public:
  using Error::Error;
};

// The range was dropped.
class RangeDropped : public Error {
 public:
  using Error::Error;
};

// An access outside its range, a write to a read-only range, a lease on a capturing stream, a chunk size that is none.
class InvalidAccess : public Error {
 public:
  using Error::Error;
};

// A backing could not be read or written; names the file, the byte and the system's reason.
class BackingError : public Error {
 public:
  using Error::Error;
};

// A chunk whose mapping is in doubt after a failure on the way back from another; the rest of the range is fine.
class ChunkPoisoned : public Error {
 public:
  using Error::Error;
};

}  // namespace holdall
