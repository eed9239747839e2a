// What the driver's calls cost a chunk that comes in: its victim's unmap, its own map and
// set-access.
#pragma once

#include <vector>

#include "engine/vmm/driver.hpp"

namespace holdall::apps {

struct ChunkCost {
  Bytes bytes = 0;                            // of the chunk
  double map = 0, set_access = 0, unmap = 0;  // seconds
  double sum() const { return map + set_access + unmap; }
};

// Measured at 2, 8 and 64 MiB, as far as the device has room for a few. Throws DriverError.
std::vector<ChunkCost> measure_chunk_costs(vmm::Driver& driver, int device);

}  // namespace holdall::apps
