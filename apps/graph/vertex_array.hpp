// Vertex state: a range under a lease for as long as it lives, so that kernels may touch all of it at any time.
#pragma once

#include <algorithm>
#include <bit>
#include <span>
#include <string>

#include "engine/engine.hpp"

namespace holdall::graph {

// Chunks of a sixteenth of the array, so that little is lost at its end and few driver calls are made.
inline Bytes vertex_chunk(Bytes bytes) {
  return std::bit_floor(std::clamp<Bytes>(bytes / 16, Bytes{2} << 20, Bytes{64} << 20));
}

template <class T>
class VertexArray {
 public:
  VertexArray() = default;
  // Zeroed. Throws WorkingSetTooLarge or WouldDeadlock where vertex state does not fit into the budget.
  VertexArray(Engine& engine, Stream stream, std::uint64_t count, const std::string& name)
      : engine_(&engine),
        range_(engine.reserve<T>(std::max<std::uint64_t>(count, 1),
                                 {.name = name,
                                  .backing = zeros(),
                                  .chunk = vertex_chunk(count * sizeof(T)),
                                  .cold = Cold::unmapped})),
        lease_(engine.acquire(stream, {write(range_)})) {}

  T* data() const { return range_.data(); }
  std::uint64_t size() const { return range_.size(); }
  void load(std::span<const T> from) { engine_->load(range_, 0, from); }
  void store(std::span<T> to) { engine_->store(range_, 0, to); }

 private:
  Engine* engine_ = nullptr;
  Range<T> range_;
  Lease lease_;
};

}  // namespace holdall::graph
