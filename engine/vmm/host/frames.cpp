#include "engine/vmm/host/frames.hpp"

#include <fmt/format.h>

namespace holdall::vmm {

FrameTable::FrameTable(int devices, Bytes device_bytes, Bytes host_bytes) {
  for (int i = 0; i < devices; ++i)
    memories_.push_back(
        std::make_unique<HostMemory>(fmt::format("holdall-device-{}", i).c_str(), device_bytes));
  memories_.push_back(std::make_unique<HostMemory>("holdall-host", host_bytes));
}

HostMemory& FrameTable::memory(Place place) {
  return place.kind == Place::host ? *memories_.back()
                                   : *memories_[static_cast<std::size_t>(place.index)];
}

const HostMemory& FrameTable::memory(Place place) const {
  return place.kind == Place::host ? *memories_.back()
                                   : *memories_[static_cast<std::size_t>(place.index)];
}

Frame FrameTable::add(Place place, Bytes bytes, Bytes offset) {
  const Frame frame{++last_};
  frames_.emplace(frame, Entry{place, bytes, offset, 0, false});
  return frame;
}

FrameTable::Entry* FrameTable::find(Frame frame) {
  const auto it = frames_.find(frame);
  return it == frames_.end() ? nullptr : &it->second;
}

}  // namespace holdall::vmm
