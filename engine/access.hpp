// What a kernel is going to touch, and how.
//
//   engine.acquire(stream, {read(edges, first, count), write(ranks)});
#pragma once

#include <cstdint>

#include "engine/chunk_set.hpp"
#include "engine/range.hpp"

namespace holdall {

struct Access {
  enum Kind : std::uint8_t {
    read,
    write,      // reads and writes; leaves its chunks dirty
    overwrite,  // writes every byte of it before reading any: whole chunks are not copied in
    in_place,   // reads a host-mapped range wherever its chunks lie; faults nothing in
  };

  RangeState* range = nullptr;
  Kind kind = read;
  Bytes first = 0;                    // of the range
  Bytes bytes = 0;                    // 0: nothing
  const ChunkSet* chunks = nullptr;   // if set: these chunks instead of the interval; lives as long as the call
};

inline bool writes(Access::Kind kind) {
  return kind == Access::write || kind == Access::overwrite;
}

inline constexpr std::uint64_t all = ~std::uint64_t{0};

namespace detail {
template <class T>
Access access(Access::Kind kind, const Range<T>& range, std::uint64_t first, std::uint64_t count) {
  const std::uint64_t size = range.size();
  // An interval past the end is kept as asked: acquire refuses it by name.
  const std::uint64_t n = count == all ? (first < size ? size - first : 0) : count;
  constexpr std::uint64_t most = all / sizeof(T);
  return {&range.state(), kind, first > most ? all : first * sizeof(T),
          n > most ? all : n * sizeof(T), nullptr};
}
}  // namespace detail

// Elements [first, first + count) of a range.
template <class T>
Access read(const Range<T>& range, std::uint64_t first = 0, std::uint64_t count = all) {
  return detail::access(Access::read, range, first, count);
}
template <class T>
Access write(const Range<T>& range, std::uint64_t first = 0, std::uint64_t count = all) {
  return detail::access(Access::write, range, first, count);
}
template <class T>
Access overwrite(const Range<T>& range, std::uint64_t first = 0, std::uint64_t count = all) {
  return detail::access(Access::overwrite, range, first, count);
}
template <class T>
Access in_place(const Range<T>& range, std::uint64_t first = 0, std::uint64_t count = all) {
  return detail::access(Access::in_place, range, first, count);
}

// The chunks of a set.
template <class T>
Access read(const Range<T>& range, const ChunkSet& chunks) {
  return {&range.state(), Access::read, 0, 0, &chunks};
}
template <class T>
Access write(const Range<T>& range, const ChunkSet& chunks) {
  return {&range.state(), Access::write, 0, 0, &chunks};
}
template <class T>
Access overwrite(const Range<T>& range, const ChunkSet& chunks) {
  return {&range.state(), Access::overwrite, 0, 0, &chunks};
}

}  // namespace holdall
