#include "apps/embedding/spread.hpp"

#include <fmt/format.h>

#include "apps/embedding/error.hpp"

namespace holdall::embedding {

Lease hold_spread(Engine& engine, const std::vector<Stream>& streams, std::uint64_t turn,
                  const Access& chunk) {
  Lease lease = engine.acquire(streams[turn % streams.size()], {chunk});
  lease.hand_over();
  // One other device that asks makes the engine grant it to all.
  if (streams.size() > 1) {
    Access shared = chunk;
    shared.kind = Access::read;
    const auto home =
        static_cast<std::size_t>(device_of(*chunk.range, chunk.first / chunk.range->chunk_bytes));
    Lease asked = engine.acquire(streams[home == 0 ? 1 : 0], {shared});
    asked.hand_over();
  }
  return lease;
}

int device_of(const RangeState& range, std::uint64_t chunk) {
  return ChunkWord::of(range.table[chunk]).device();
}

void check_reach(Engine& engine, const std::string& table) {
  for (int device = 0; device < engine.devices(); ++device)
    for (int peer = 0; peer < engine.devices(); ++peer)
      if (device != peer && !engine.driver().can_access_peer(device, peer))
        throw EmbeddingError(fmt::format(
            "table '{}' cannot lie over {} devices: device {} does not reach the memory of device "
            "{}; use an engine of fewer devices (--devices 1)",
            table, engine.devices(), device, peer));
}

}  // namespace holdall::embedding
