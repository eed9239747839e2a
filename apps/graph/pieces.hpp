// Long arrays in pieces, for all threads.
#pragma once

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>

#include "engine/vmm/bytes.hpp"

namespace holdall::graph {

constexpr Bytes piece_bytes = Bytes{2} << 20;

// Calls `visit(first byte, bytes)` for the pieces of [0, bytes), each of piece_bytes but the last.
template <typename Visit>
void for_each_piece(Bytes bytes, Visit visit) {
  tbb::parallel_for(Bytes{0}, (bytes + piece_bytes - 1) / piece_bytes, [&](Bytes piece) {
    const Bytes first = piece * piece_bytes;
    visit(first, std::min(piece_bytes, bytes - first));
  });
}

}  // namespace holdall::graph
