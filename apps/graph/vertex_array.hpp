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

class Exchange;
class PagedGraph;

template <class T>
class VertexArray {
 public:
  VertexArray() = default;
  VertexArray(Engine& engine, Range<T> range, Stream stream, int device)
      : engine_(&engine), range_(std::move(range)), stream_(stream), device_(device) {}

  T* data() const { return range_.data(); }
  std::uint64_t size() const { return range_.size(); }
  const Range<T>& range() const { return range_; }
  Stream stream() const { return stream_; }  // whose kernels use it
  // Elements from `first` on. Return when done.
  void load(std::span<const T> from, std::uint64_t first = 0) {
    engine_->load(range_, first, from, device_);
  }
  void store(std::span<T> to, std::uint64_t first = 0) const {
    engine_->store(range_, first, to, device_);
  }

 private:
  Engine* engine_ = nullptr;
  Range<T> range_;
  Stream stream_;
  int device_ = 0;
};

// Makes the arrays of an algorithm, then leases them all at once:
//
//   VertexData data(engine, stream, "BFS");
//   parents_ = data.array<std::uint32_t>(vertices, "parents");
//   lease_ = data.lease(chunk);  // declared after the arrays, so that it ends before they go
class VertexData {
 public:
  // Arrays of the stream's device; where it has no room, of those that it reaches. `what` names it
  // in messages.
  VertexData(Engine& engine, Stream stream, std::string what);
  VertexData(const PagedGraph& graph, std::string what);

  // Zeroed; to be touched once it is leased.
  template <class T>
  VertexArray<T> array(std::uint64_t count, const std::string& name) {
    const std::uint64_t size = std::max<std::uint64_t>(count, 1);
    VertexArray<T> array(engine_,
                         engine_.reserve<T>(size, {.name = name,
                                                   .backing = zeros(),
                                                   .chunk = chunk_for(size * sizeof(T)),
                                                   .cold = Cold::unmapped}),
                         stream_, device_);
    bytes_ += array.range().chunks() * array.range().chunk_bytes();
    accesses_.push_back(write(array.range()));
    return array;
  }

  // Throws WorkingSetTooLarge where the arrays do not fit into the budget, beside what is leased
  // already and one chunk of `paged` bytes; the message says how much there is of each. The parts
  // of a split graph call it together and are served in turn: none holds memory and waits for
  // another.
  Lease lease(Bytes paged);

  Engine& engine() const { return engine_; }
  Stream stream() const { return stream_; }

 private:
  Bytes chunk_for(Bytes bytes) const;
  Lease lease_now(Bytes paged);

  Engine& engine_;
  const Stream stream_;
  int device_ = 0;
  Exchange* exchange_ = nullptr;  // of a split graph
  const std::string what_;
  Bytes bytes_ = 0;
  std::vector<Access> accesses_;
};

}  // namespace holdall::graph
