// Vertex state: ranges that stay under one lease, so that kernels may touch all of it at any time.
#pragma once

#include <algorithm>
#include <bit>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.hpp"

namespace holdall::graph {

template <class T>
class VertexArray {
 public:
  VertexArray() = default;
  VertexArray(Engine& engine, Range<T> range) : engine_(&engine), range_(std::move(range)) {}

  T* data() const { return range_.data(); }
  std::uint64_t size() const { return range_.size(); }
  const Range<T>& range() const { return range_; }
  void load(std::span<const T> from) { engine_->load(range_, 0, from); }
  void store(std::span<T> to) { engine_->store(range_, 0, to); }

 private:
  Engine* engine_ = nullptr;
  Range<T> range_;
};

// Makes the arrays of an algorithm, then leases them all at once:
//
//   VertexData data(engine, stream, "BFS");
//   parents_ = data.array<std::uint32_t>(vertices, "parents");
//   lease_ = data.lease(chunk);  // declared after the arrays, so that it ends before they go
class VertexData {
 public:
  // `what` names it in messages.
  VertexData(Engine& engine, Stream stream, std::string what);

  // Zeroed; to be touched once it is leased.
  template <class T>
  VertexArray<T> array(std::uint64_t count, const std::string& name) {
    const std::uint64_t size = std::max<std::uint64_t>(count, 1);
    VertexArray<T> array(engine_, engine_.reserve<T>(size, {.name = name,
                                                            .backing = zeros(),
                                                            .chunk = chunk_for(size * sizeof(T)),
                                                            .cold = Cold::unmapped}));
    bytes_ += array.range().chunks() * array.range().chunk_bytes();
    accesses_.push_back(write(array.range()));
    return array;
  }

  // Throws WorkingSetTooLarge where the arrays do not fit into the budget, beside what is leased
  // already and one chunk of `paged` bytes; the message says how much there is of each.
  Lease lease(Bytes paged);

  Engine& engine() const { return engine_; }
  Stream stream() const { return stream_; }

 private:
  Bytes chunk_for(Bytes bytes) const;

  Engine& engine_;
  const Stream stream_;
  const std::string what_;
  Bytes budget_ = 0;  // of all devices
  Bytes bytes_ = 0;
  std::vector<Access> accesses_;
};

}  // namespace holdall::graph
