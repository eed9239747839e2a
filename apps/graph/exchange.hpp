// How the parts of a split graph agree. Each part has the edges of a range of vertices and runs the
// whole algorithm over them; what it learns of other parts' vertices goes through here. A graph
// that is not split has one part, for which all of this is nothing.
//
//   kernels::bfs_expand(...);                       // this part's edges
//   exchange.unite(reached);                        // every part has all that were found
//   const std::uint64_t edges = exchange.sum(mine);
//
// Parts may be devices of one engine (apps/graph/device_exchange.hpp) or processes
// (apps/graph/mpi_exchange.hpp). All parts make the same calls in the same order, each on a thread
// of its own; every call waits for the others. Where one of them fails, the calls of the others
// throw PartFailed instead of waiting for it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "apps/graph/csr.hpp"
#include "apps/graph/vertex_array.hpp"
#include "engine/error.hpp"

namespace holdall::graph {

class PartFailed : public Error {
 public:
  PartFailed() : Error("another part of the graph failed, so this one ended too") {}
};

class Exchange {
 public:
  virtual ~Exchange() = default;

  virtual int part() const { return 0; }
  virtual int parts() const { return 1; }

  // The sum of what the parts give, the same to the last bit for each of them.
  std::uint64_t sum(std::uint64_t mine);
  double sum(double mine);
  // The same for several numbers, in place.
  void sum(std::span<std::uint64_t> numbers);
  void sum(std::span<double> numbers);

  // Arrays of whole graphs, of one size for all parts, each in its part's memory. What was put on
  // their streams before is in; what is put there later finds the result.
  // ... every bit that is set in one of them is set in all;
  void unite(const VertexArray<std::uint64_t>& bits) {
    if (parts() > 1) merge(view(bits), Merge::unite);
  }
  // ... every value becomes the smallest of them;
  template <class T>  // std::uint32_t or std::uint64_t
  void lower(const VertexArray<T>& values) {
    if (parts() > 1) merge(view(values), Merge::lower);
  }
  // ... the elements [bounds[p], bounds[p + 1]) become those of part p.
  void gather(const VertexArray<float>& values, std::span<const std::uint64_t> bounds) {
    if (parts() > 1) gather(view(values), bounds);
  }

  // Calls `visit` with each other part's array, for kernels on the stream of `values` to read: it
  // may lie in a peer's memory, or in pinned memory. No part may change its array meanwhile.
  void visit_others(const VertexArray<Vertex>& values,
                    const std::function<void(const Vertex* theirs)>& visit) {
    if (parts() > 1)
      visit_others(view(values), [&](const std::byte* theirs) {
        visit(reinterpret_cast<const Vertex*>(theirs));
      });
  }

  // Calls `f` of one part after the other where parts share memory.
  virtual void in_turn(const std::function<void()>& f) { f(); }

 protected:
  struct View {
    RangeState* range = nullptr;
    Bytes bytes = 0;
    Bytes element = 0;
    Stream stream;
  };
  enum class Merge { unite, lower };

  // What all parts give, in their order; each gives as many.
  virtual std::vector<std::uint64_t> collect(std::span<const std::uint64_t> mine) {
    return {mine.begin(), mine.end()};
  }
  virtual void merge(const View&, Merge) {}
  virtual void gather(const View&, std::span<const std::uint64_t>) {}
  virtual void visit_others(const View&, const std::function<void(const std::byte*)>&) {}

  // Bytes [first, first + bytes) of an array, to or from where byte `first` is or will be at
  // `other`, in pieces that lie within a chunk.
  static void copy_out(vmm::Driver& driver, const View& from, Bytes first, Bytes bytes,
                       std::byte* other);
  static void copy_in(vmm::Driver& driver, const View& to, Bytes first, Bytes bytes,
                      const std::byte* other);
  // Merges so many bytes of arrays like `array`, on its stream.
  static void launch(Merge merge, const View& array, std::byte* to, const std::byte* from,
                     Bytes bytes);

 private:
  template <class T>
  static View view(const VertexArray<T>& array) {
    return {&array.range().state(), array.size() * sizeof(T), sizeof(T), array.stream()};
  }
};

}  // namespace holdall::graph
