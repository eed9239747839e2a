// What a step of learning works with.
#pragma once

#include "apps/embedding/resident.hpp"
#include "kernels/counts.hpp"

namespace holdall::embedding {

struct LearnWork {
  LearnWork(Engine& engine, Stream stream, std::uint32_t most)
      : device(engine, stream, words(most), "learning"),
        host(engine.host_array<std::uint32_t>(words(most), "learning")),
        moves(engine.host_array<kernels::Move>(2 * most, "moves")),
        left(engine.host_array<std::uint32_t>(2 * most, "moves")) {}

  static std::uint64_t words(std::uint32_t most) {
    return 2 * kernels::count_bins + 2 + 6ull * most;
  }

  // Histograms, hot and cold; how many hot, how many cold; the hot moves, the cold ones.
  static constexpr std::uint64_t counted = 2 * kernels::count_bins;
  Resident<std::uint32_t> device;
  HostArray<std::uint32_t> host;
  HostArray<kernels::Move> moves;  // pinned: kernels read it
  HostArray<std::uint32_t> left;
};

}  // namespace holdall::embedding
