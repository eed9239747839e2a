#include "apps/graph/vertex_array.hpp"

#include <fmt/format.h>

namespace holdall::graph {

VertexData::VertexData(Engine& engine, Stream stream, std::string what)
    : engine_(engine), stream_(stream), what_(std::move(what)) {
  for (int device = 0; device < engine.devices(); ++device) budget_ += engine.memory(device);
}

// A sixteenth of the array, so that little is lost at its end and few driver calls are made; less
// where the budget is small, so that lease() is what refuses it.
Bytes VertexData::chunk_for(Bytes bytes) const {
  constexpr Bytes least = Bytes{2} << 20;
  constexpr Bytes most = Bytes{64} << 20;
  return std::bit_floor(std::clamp<Bytes>(std::min(bytes, engine_.memory()) / 16, least, most));
}

Lease VertexData::lease(Bytes paged) {
  const Bytes leased = engine_.leased();
  const Bytes needed = bytes_ + leased + paged;
  if (needed > budget_) {
    std::string parts = fmt::format("{} for {}", to_string(bytes_), what_);
    if (leased > 0) parts += fmt::format(", {} leased already", to_string(leased));
    throw WorkingSetTooLarge(
        fmt::format("vertex data stays in memory: {}, and one chunk of neighbours ({}) make {}; "
                    "the memory budget is {}: raise it (--memory)",
                    parts, to_string(paged), to_string(needed), to_string(budget_)),
        needed, budget_);
  }
  return engine_.acquire(stream_, accesses_);
}

}  // namespace holdall::graph
