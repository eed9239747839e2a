// Chunks spread over the devices of the pool, each within the reach of all.
#pragma once

#include <vector>

#include "engine/engine.hpp"

namespace holdall::embedding {

// Holds a chunk on the device of streams[turn % n], or on another that has room where that has
// none, and lets the others touch it. `streams`: one of each device. Throws as Engine::acquire.
Lease hold_spread(Engine& engine, const std::vector<Stream>& streams, std::uint64_t turn,
                  const Access& chunk);
// Where it is.
int device_of(const RangeState& range, std::uint64_t chunk);

// Throws EmbeddingError, naming the table, where a device of the engine does not reach another.
void check_reach(Engine& engine, const std::string& table);

}  // namespace holdall::embedding
