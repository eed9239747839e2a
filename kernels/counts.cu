#include "kernels/counts.hpp"

#include "kernels/gpu.hpp"
#include "kernels/row_on_gpu.cuh"

namespace holdall::kernels::gpu {
namespace {

constexpr unsigned whole_warp = 0xFFFF'FFFF;

struct Counted {
  std::uint32_t position;
  std::uint32_t count;
};

__device__ Counted counted_entry(const TableView& table, const std::uint32_t* counts,
                                 std::uint64_t entry) {
  const std::uint32_t word = __ldcg(counts + entry / 2);
  return {position_of(table, entry, LoadOnGpu()),
          min(word >> (entry % 2 != 0 ? 16 : 0) & 0xffff, count_bins - 1)};
}

// A block gathers the small counts, of which there are most, before it adds them.
__global__ void count_all(TableView table, const std::uint32_t* counts, Histograms to) {
  constexpr std::uint32_t small = 256;
  __shared__ std::uint32_t bins[2][small];
  for (std::uint32_t i = threadIdx.x; i < 2 * small; i += block_threads)
    bins[i / small][i % small] = 0;
  __syncthreads();
  for (std::uint64_t entry = thread_index(); entry < table.entry_count;
       entry += std::uint64_t{gridDim.x} * block_threads) {
    const auto [position, count] = counted_entry(table, counts, entry);
    if (position == nowhere) continue;
    const bool hot = position < table.hot_rows;
    atomicAdd(count < small ? &bins[hot][count] : (hot ? to.hot : to.cold) + count, 1u);
  }
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < small; i += block_threads) {
    if (bins[0][i] != 0) atomicAdd(to.cold + i, bins[0][i]);
    if (bins[1][i] != 0) atomicAdd(to.hot + i, bins[1][i]);
  }
}

__global__ void choose_all(TableView table, const std::uint32_t* counts, Choice choice) {
  const std::uint64_t entry = thread_index();
  Counted it{nowhere, 0};
  if (entry < table.entry_count) it = counted_entry(table, counts, entry);
  const bool there = it.position != nowhere;
  const bool hot = it.position < table.hot_rows;
  const bool leaves = there && hot && it.count < choice.below;
  const bool comes = there && !hot && it.count >= choice.from;
  const unsigned lane = threadIdx.x % 32;
  for (const bool which : {false, true}) {
    const unsigned who = __ballot_sync(whole_warp, which ? leaves : comes);
    if (who == 0) continue;
    std::uint32_t* const total = which ? choice.hot_count : choice.cold_count;
    // What no list has room for needs no place of its own.
    std::uint32_t at = 0;
    if (lane == 0)
      at = __ldcg(total) < choice.capacity ? atomicAdd(total, __popc(who)) : choice.capacity;
    at = __shfl_sync(whole_warp, at, 0) + __popc(who & ((1u << lane) - 1));
    if ((which ? leaves : comes) && at < choice.capacity)
      (which ? choice.hot : choice.cold)[at] = {static_cast<std::uint32_t>(entry), it.position, 0};
  }
}

__global__ void halve_all(std::uint32_t* counts, std::uint64_t words, std::uint32_t times) {
  const std::uint64_t i = thread_index();
  if (i < words) counts[i] = halved_count(__ldcg(counts + i), times);
}

}  // namespace

void count_entries(const TableView& table, const std::uint32_t* counts, const Histograms& to,
                   Stream stream) {
  const OnDeviceOf device(stream);
  check(cudaMemsetAsync(to.hot, 0, 4 * count_bins, stream.cuda()));
  check(cudaMemsetAsync(to.cold, 0, 4 * count_bins, stream.cuda()));
  constexpr std::uint64_t most = 264 * block_threads;  // that many share their small counts
  launch_threads(count_all, std::min(table.entry_count, most), stream, table, counts, to);
}

void choose_moves(const TableView& table, const std::uint32_t* counts, const Choice& choice,
                  Stream stream) {
  const OnDeviceOf device(stream);
  check(cudaMemsetAsync(choice.hot_count, 0, 4, stream.cuda()));
  check(cudaMemsetAsync(choice.cold_count, 0, 4, stream.cuda()));
  launch_threads(choose_all, table.entry_count, stream, table, counts, choice);
}

void halve_counts(std::uint32_t* counts, std::uint64_t entries, std::uint32_t times,
                  Stream stream) {
  const OnDeviceOf device(stream);
  const std::uint64_t words = (entries + 1) / 2;
  launch_threads(halve_all, words, stream, counts, words, times);
}

}  // namespace holdall::kernels::gpu
