// The engine's own backings.
#pragma once

#include <map>
#include <memory>

#include "engine/backing.hpp"
#include "engine/host_memory.hpp"

namespace holdall {

// Slots for write-backs, by chunk size; shared by all ranges that began as zeros.
using SlotsBySize = std::map<Bytes, PinnedSlots>;

// The backing of a range of `bytes`, in chunks of `chunk_bytes`. Throws BackingError, OutOfHostMemory.
std::shared_ptr<Backing> make_backing(const BackingSpec& spec, const std::string& name, Bytes bytes,
                                      Bytes chunk_bytes, HostMemory& memory, SlotsBySize& slots);

// The start of a pinned range's contents on the host, whole and in place; nullptr for other backings.
std::byte* host_contents(Backing& backing);

}  // namespace holdall
