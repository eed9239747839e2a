// The frames of the host driver: which extent of which memory each is, and how often it is mapped.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "engine/vmm/driver.hpp"
#include "engine/vmm/host/memory.hpp"

namespace holdall::vmm {

// Not thread-safe.
class FrameTable {
 public:
  struct Entry {
    Place place;
    Bytes bytes = 0;
    Bytes offset = 0;
    unsigned mappings = 0;
    bool released = false;
  };

  // One memory for each device, and one for the host.
  FrameTable(int devices, Bytes device_bytes, Bytes host_bytes);

  HostMemory& memory(Place place);
  const HostMemory& memory(Place place) const;

  Frame add(Place place, Bytes bytes, Bytes offset);
  Entry* find(Frame frame);  // also one that is released but still mapped
  // Forgets a frame that is released and mapped nowhere. Its extent is the caller's to discard and
  // give back.
  void remove(Frame frame) { frames_.erase(frame); }
  std::size_t size() const { return frames_.size(); }

 private:
  std::vector<std::unique_ptr<HostMemory>> memories_;  // the last is the host's
  std::unordered_map<Frame, Entry> frames_;
  std::uint64_t last_ = 0;
};

}  // namespace holdall::vmm
