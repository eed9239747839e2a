#include "apps/graph/vertex_array.hpp"

#include <fmt/format.h>

#include "apps/graph/exchange.hpp"
#include "apps/graph/paged_graph.hpp"

namespace holdall::graph {

VertexData::VertexData(Engine& engine, Stream stream, std::string what)
    : engine_(engine), stream_(stream), what_(std::move(what)) {
  vmm::check(engine.driver().device_of(stream, device_), "find the device of a stream");
}

VertexData::VertexData(const PagedGraph& graph, std::string what)
    : VertexData(graph.engine(), graph.stream(), std::move(what)) {
  exchange_ = &graph.exchange();
}

// A sixteenth of the array, so that little is lost at its end and few driver calls are made; less
// where the budget is small, so that lease() is what refuses it.
Bytes VertexData::chunk_for(Bytes bytes) const {
  constexpr Bytes least = Bytes{2} << 20;
  constexpr Bytes most = Bytes{64} << 20;
  return std::bit_floor(std::clamp<Bytes>(std::min(bytes, engine_.memory()) / 16, least, most));
}

Lease VertexData::lease(Bytes paged) {
  if (exchange_ == nullptr) return lease_now(paged);
  Lease lease;
  exchange_->in_turn([&] { lease = lease_now(paged); });
  return lease;
}

Lease VertexData::lease_now(Bytes paged) {
  Bytes budget = 0, leased = 0, chunks = 0;
  for (int device = 0; device < engine_.devices(); ++device) {
    if (device != device_ && !engine_.driver().can_access_peer(device_, device)) continue;
    budget += engine_.memory(device);
    leased += engine_.leased(device);
    // What is left may be spread over the devices: a split graph has no thread that could tell.
    if (chunks == 0 || (exchange_ != nullptr && exchange_->parts() > 1)) chunks += paged;
  }
  const Bytes needed = bytes_ + leased + chunks;
  if (needed > budget) {
    std::string parts = fmt::format("{} for {}", holdall::to_string(bytes_), what_);
    if (leased > 0) parts += fmt::format(", {} leased already", holdall::to_string(leased));
    throw WorkingSetTooLarge(
        fmt::format("vertex data stays in memory: {}, and one chunk of neighbours{} ({}) make {}; "
                    "the memory budget is {}: raise it (--memory)",
                    parts, chunks > paged ? " a device" : "", holdall::to_string(chunks),
                    holdall::to_string(needed), holdall::to_string(budget)),
        needed, budget);
  }
  return engine_.acquire(stream_, accesses_);
}

}  // namespace holdall::graph
