// The physical memory of one place on the host driver: a memfd and a capacity.
//
// A frame is an extent of the file. The file is sparse and far longer than the capacity, which only
// the sum of the extents is held to: sizes can be mixed for ever without a hole that is too small.
#pragma once

#include <map>
#include <optional>
#include <set>

#include "engine/vmm/bytes.hpp"

namespace holdall::vmm {

Bytes page_bytes();     // of the system: 4 KiB, or 64 KiB on some Arm machines
Bytes machine_bytes();  // of memory

// Not thread-safe, except for `make_large`, `poison` and `discard`.
class HostMemory {
 public:
  // Throws std::system_error. `name` is what /proc/self/maps shows.
  HostMemory(const char* name, Bytes capacity);
  ~HostMemory();
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  // Offset of an extent of zeros; nothing past the capacity. The lowest extent of this size that
  // was given back is taken first, so that frames in order stay in order and their mappings merge.
  std::optional<Bytes> take(Bytes bytes);
  // The extent must have been discarded.
  void give(Bytes offset, Bytes bytes);

  // Has large pages stand behind a new extent, where the system gives them: it is then mapped by few
  // faults, and few translations reach it. Its contents stay. Does nothing where the capacity is
  // more than half of the machine's memory: such a device is sparse, and gets pages at touches.
  void make_large(Bytes offset, Bytes bytes) const noexcept;
  // Fills an extent with `byte`; false when memory is short.
  bool poison(Bytes offset, Bytes bytes, int byte) const;
  // Hands the pages of an extent back to the system; it reads as zeros then.
  void discard(Bytes offset, Bytes bytes) const noexcept;

  int file() const { return file_; }
  Bytes capacity() const { return capacity_; }
  Bytes taken() const { return taken_; }

 private:
  int file_;
  Bytes capacity_;
  Bytes taken_ = 0;
  Bytes end_ = 0;                           // nothing was ever taken from here on
  std::map<Bytes, std::set<Bytes>> given_;  // size -> offsets to take again
};

}  // namespace holdall::vmm
