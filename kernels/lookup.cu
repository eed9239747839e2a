#include <cub/device/device_radix_sort.cuh>

#include "kernels/gpu.hpp"
#include "kernels/row_on_gpu.cuh"

namespace holdall::kernels::gpu {
namespace {

constexpr unsigned whole_warp = 0xFFFF'FFFF;
constexpr int at_once = 4;  // rows that a group of lanes has in flight

__device__ void add_to(std::uint64_t* at, std::uint64_t n) {
  atomicAdd(reinterpret_cast<unsigned long long*>(at), static_cast<unsigned long long>(n));
}

__device__ void count_key(const Counting& counting, std::uint64_t i, std::uint64_t entry) {
  std::uint32_t* const word = counting.counts + entry / 2;
  const int half = entry % 2 != 0 ? 16 : 0;
  // Other devices of the pool count here too.
  if (const std::uint32_t weight = weight_of(counting, i, __ldcg(word) >> half & 0xffff);
      weight > 0)
    atomicAdd_system(word, weight << half);
}

// Where key i is. `speaks`: this lane is the one that reports what was seen.
__device__ std::uint32_t find_one(const TableView& table, const LookupIn& in, std::uint64_t i,
                                  bool speaks) {
  const std::uint64_t entry = entry_of(table, in.keys[i], LoadOnGpu());
  const std::uint32_t position = position_of(table, entry, LoadOnGpu());
  if (!speaks) return position;
  const bool known = position != nowhere;
  if (in.found != nullptr) in.found[i] = known;
  if (known && in.counting.counts != nullptr) count_key(in.counting, i, entry);
  if (!known && in.missing != nullptr)
    in.missing[1 + atomicAdd(in.missing, 1u)] = static_cast<std::uint32_t>(i);
  return position;
}

// By all lanes of a warp: adds how many of them saw something.
__device__ void report(std::uint64_t* at, bool saw) {
  const unsigned who = __ballot_sync(whole_warp, saw);
  if (who != 0 && threadIdx.x % 32 == 0) add_to(at, __popc(who));
}

// Group g of `lanes` lanes copies rows g, g + groups, ... of `count`: `from(i, which, row)` says
// which of the output row i is and where it comes from, or answers false to
// skip it.
template <typename Way, typename From>
__device__ void copy_each(const TableView& table, const RowsOut& out, std::uint64_t count,
                          std::uint32_t lanes, From from) {
  const std::uint64_t group = thread_index() / lanes;
  const std::uint64_t groups = std::uint64_t{gridDim.x} * block_threads / lanes;
  const std::uint32_t lane = threadIdx.x % lanes;
  const std::uint32_t pieces = Way::pieces(table);
  // All lanes of a warp go round as often, so that `from` may use them together.
  const std::uint64_t warp_first = thread_index() / 32 * 32 / lanes;
  for (std::uint64_t base = warp_first; base < count; base += at_once * groups) {
    const std::uint64_t first = base + (group - warp_first);
    bool live[at_once];
    std::uint64_t which[at_once];
    RowAt row[at_once];
#pragma unroll
    for (int k = 0; k < at_once; ++k)
      live[k] = from(first + k * groups, which[k], row[k], lane == 0);
    for (std::uint32_t i = lane; i < pieces; i += lanes) {
      typename Way::Piece piece[at_once];
#pragma unroll
      for (int k = 0; k < at_once; ++k)
        if (live[k] && row[k].at != nullptr) piece[k] = Way::load(table, row[k], i);
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        if (!live[k]) continue;
        if (row[k].at == nullptr) piece[k] = Way::fallback(table, out, i);
        Way::store(out, which[k], i, piece[k]);
      }
    }
  }
}

template <typename Way>
__global__ void __launch_bounds__(block_threads)
    gather_all(TableView table, LookupIn in, RowsOut out, std::uint32_t lanes) {
  if (thread_index() == 0 && in.counts != nullptr) add_to(&in.counts->keys, in.count);
  copy_each<Way>(table, out, in.count, lanes,
                 [&](std::uint64_t i, std::uint64_t& which, RowAt& row, bool speaks) {
                   which = i;
                   const bool live = i < in.count;
                   const std::uint32_t position = live ? find_one(table, in, i, speaks) : nowhere;
                   row = position == nowhere ? RowAt() : table.at(position);
                   if (in.counts != nullptr) {
                     report(&in.counts->missing, live && speaks && position == nowhere);
                     report(&in.counts->cold,
                            speaks && position != nowhere && position >= table.hot_rows);
                   }
                   return live;
                 });
}

__global__ void __launch_bounds__(block_threads)
    locate_all(TableView table, LookupIn in, std::uint32_t* positions, ColdList list) {
  const std::uint64_t i = thread_index();
  const bool live = i < in.count;
  if (i == 0 && in.counts != nullptr) add_to(&in.counts->keys, in.count);
  std::uint32_t position = live ? find_one(table, in, i, true) : nowhere;
  const bool cold = position != nowhere && position >= table.hot_rows;
  if (in.counts != nullptr) {
    report(&in.counts->missing, live && position == nowhere);
    report(&in.counts->cold, cold);
  }
  const unsigned who = __ballot_sync(whole_warp, cold);
  const unsigned lane = threadIdx.x % 32;
  std::uint32_t at = 0;
  if (who != 0 && lane == 0) at = atomicAdd(list.count, __popc(who));
  at = __shfl_sync(whole_warp, at, 0) + __popc(who & ((1u << lane) - 1));
  if (cold && at < list.capacity) {
    list.positions[at] = position;
    list.which[at] = static_cast<std::uint32_t>(i);
    position = listed;
  }
  if (live) positions[i] = position;
}

template <typename Way>
__global__ void __launch_bounds__(block_threads)
    gather_located(TableView table, const std::uint32_t* positions, std::uint64_t count,
                   RowsOut out, std::uint32_t lanes) {
  copy_each<Way>(table, out, count, lanes,
                 [&](std::uint64_t i, std::uint64_t& which, RowAt& row, bool) {
                   which = i;
                   const std::uint32_t position = i < count ? positions[i] : listed;
                   row = position < listed ? table.at(position) : RowAt();
                   return position != listed;
                 });
}

template <typename Way>
__global__ void __launch_bounds__(block_threads)
    gather_listed(TableView table, ColdList list, std::uint32_t part, std::uint32_t parts,
                  RowsOut out, std::uint32_t lanes) {
  const std::uint64_t all = min(*list.count, list.capacity);
  const std::uint64_t first = all * part / parts;
  const std::uint64_t count = all - first;
  copy_each<Way>(table, out, count, lanes,
                 [&](std::uint64_t i, std::uint64_t& which, RowAt& row, bool) {
                   if (i >= count) return false;
                   const std::uint64_t at = first + i;
                   which = list.which[at];
                   row = table.at(list.positions[at]);
                   return true;
                 });
}

template <typename Way>
__global__ void __launch_bounds__(block_threads)
    gather_part(TableView table, ColdList list, std::byte* staged, std::uint32_t part,
                std::uint32_t parts, RowsOut out, std::uint32_t lanes) {
  const std::uint64_t listed_count = min(*list.count, list.capacity);
  const std::uint64_t first = listed_count * part / parts;
  const std::uint64_t count = listed_count * (part + 1) / parts - first;
  copy_each<Way>(table, out, count, lanes,
                 [&](std::uint64_t i, std::uint64_t& which, RowAt& row, bool) {
                   if (i >= count) return false;
                   which = list.which[first + i];
                   row = table.cold_in(staged, first + i);
                   return true;
                 });
}

std::uint32_t blocks_for(std::uint64_t rows, std::uint32_t lanes) {
  const std::uint64_t threads = (rows + at_once - 1) / at_once * lanes;
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>((threads + block_threads - 1) / block_threads, 1, 1u << 20));
}

__global__ void spread(const std::uint32_t* count, std::uint32_t* to) { *to = *count; }

}  // namespace

void gather(const TableView& table, const LookupIn& in, const RowsOut& out, Stream stream) {
  const OnDeviceOf device(stream);
  if (in.missing != nullptr) check(cudaMemsetAsync(in.missing, 0, 4, stream.cuda()));
  if (in.count == 0) return;
  with_way(table, out, [&]<typename Way>(Way) {
    const std::uint32_t lanes = lanes_for(Way::pieces(table));
    gather_all<Way>
        <<<blocks_for(in.count, lanes), block_threads, 0, stream.cuda()>>>(table, in, out, lanes);
  });
  check(cudaGetLastError());
}

void locate(const TableView& table, const LookupIn& in, std::uint32_t* positions,
            const ColdList& list, Stream stream) {
  const OnDeviceOf device(stream);
  if (in.missing != nullptr) check(cudaMemsetAsync(in.missing, 0, 4, stream.cuda()));
  check(cudaMemsetAsync(list.count, 0, 4, stream.cuda()));
  check(cudaMemsetAsync(list.positions, 0xff, 4 * std::size_t{list.capacity}, stream.cuda()));
  launch_threads(locate_all, in.count, stream, table, in, positions, list);
}

void gather_hot(const TableView& table, const std::uint32_t* positions, std::uint64_t count,
                const RowsOut& out, Stream stream) {
  const OnDeviceOf device(stream);
  if (count == 0) return;
  with_way(table, out, [&]<typename Way>(Way) {
    const std::uint32_t lanes = lanes_for(Way::pieces(table));
    gather_located<Way><<<blocks_for(count, lanes), block_threads, 0, stream.cuda()>>>(
        table, positions, count, out, lanes);
  });
  check(cudaGetLastError());
}

Bytes sort_list_bytes(std::uint32_t capacity) {
  std::size_t bytes = 0;
  check(cub::DeviceRadixSort::SortPairs(nullptr, bytes, static_cast<const std::uint32_t*>(nullptr),
                                        static_cast<std::uint32_t*>(nullptr),
                                        static_cast<const std::uint32_t*>(nullptr),
                                        static_cast<std::uint32_t*>(nullptr), capacity));
  return bytes;
}

void sort_list(const ColdList& list, const ColdList& sorted, std::uint32_t low_bit, void* workspace,
               Stream stream) {
  const OnDeviceOf device(stream);
  std::size_t bytes = sort_list_bytes(list.capacity);
  if (list.capacity > 0)
    check(cub::DeviceRadixSort::SortPairs(workspace, bytes, list.positions, sorted.positions,
                                          list.which, sorted.which, list.capacity,
                                          static_cast<int>(low_bit), 32, stream.cuda()));
  spread<<<1, 1, 0, stream.cuda()>>>(list.count, sorted.count);
  check(cudaGetLastError());
}

void gather_cold(const TableView& table, const ColdList& list, std::uint32_t part,
                 std::uint32_t parts, const RowsOut& out, std::uint32_t blocks, Stream stream) {
  const OnDeviceOf device(stream);
  with_way(table, out, [&]<typename Way>(Way) {
    gather_listed<Way><<<blocks, block_threads, 0, stream.cuda()>>>(table, list, part, parts, out,
                                                                    lanes_for(Way::pieces(table)));
  });
  check(cudaGetLastError());
}

void gather_staged(const TableView& table, const ColdList& list, std::byte* staged,
                   std::uint32_t part, std::uint32_t parts, const RowsOut& out, Stream stream) {
  const OnDeviceOf device(stream);
  with_way(table, out, [&]<typename Way>(Way) {
    gather_part<Way><<<66, block_threads, 0, stream.cuda()>>>(table, list, staged, part, parts, out,
                                                              lanes_for(Way::pieces(table)));
  });
  check(cudaGetLastError());
}

}  // namespace holdall::kernels::gpu
