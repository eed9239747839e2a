#include "engine/vmm/host_copy.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstring>

namespace holdall::vmm {

namespace {

constexpr Bytes split_from = 1_MiB;
constexpr Bytes piece = 256_KiB;

template <typename Body>
void in_pieces(StreamArena& arena, Bytes bytes, Body body) {
  if (bytes < split_from) return body(Bytes{0}, bytes);
  arena.run([&] {
    tbb::parallel_for(tbb::blocked_range<Bytes>(0, bytes, piece),
                      [&](const auto& part) { body(part.begin(), part.size()); });
  });
}

}  // namespace

void copy_bytes(StreamArena& arena, void* to, const void* from, Bytes bytes) {
  in_pieces(arena, bytes, [to, from](Bytes at, Bytes n) {
    std::memcpy(static_cast<std::byte*>(to) + at, static_cast<const std::byte*>(from) + at, n);
  });
}

void fill_bytes(StreamArena& arena, void* at, std::uint8_t value, Bytes bytes) {
  in_pieces(arena, bytes, [at, value](Bytes from, Bytes n) {
    std::memset(static_cast<std::byte*>(at) + from, value, n);
  });
}

std::chrono::steady_clock::time_point LinkLane::book(Bytes bytes, double rate) {
  const std::chrono::duration<double> takes(static_cast<double>(bytes) / rate);
  const std::lock_guard lock(mutex_);
  free_ = std::max(free_, std::chrono::steady_clock::now()) +
          std::chrono::duration_cast<std::chrono::steady_clock::duration>(takes);
  return free_;
}

}  // namespace holdall::vmm
