#include "kernels/pool.hpp"

#include "kernels/gpu.hpp"
#include "kernels/row_on_gpu.cuh"

namespace holdall::kernels::gpu {
namespace {

using Wide = unsigned long long;

__device__ void add_to(std::uint64_t* at, std::uint64_t n) {
  if (n > 0) atomicAdd(reinterpret_cast<Wide*>(at), static_cast<Wide>(n));
}

// A group of lanes a bag; each lane sums the elements of its pieces over the whole bag, in order.
template <int V>
__device__ void pool_one(const TableView& table, const Bags& bags, const Staged& staged,
                         std::uint64_t bag, std::uint32_t lane, std::uint32_t lanes,
                         LookupCounts* counts, RowType type, std::byte* out) {
  // 1. where the bag begins and ends
  std::uint64_t begin = bags.offsets[bag];
  std::uint64_t end =
      bag + 1 < bags.bags || bags.include_last_offset ? bags.offsets[bag + 1] : bags.count;
  if (begin > end || end > bags.count) {
    if (counts != nullptr && lane == 0) add_to(&counts->bad_offsets, 1);
    begin = end = 0;
  }

  // 2. each piece; the first pass reports
  for (std::uint32_t piece = lane; piece * V < table.row.dim || piece == lane; piece += lanes) {
    const bool real = piece * V < table.row.dim;
    Floats<V> sum{};
    std::uint64_t n = 0;
    LookupCounts seen;
    for (std::uint64_t i = begin; i < end; ++i) {
      const std::uint64_t index = bags.indices[i];
      if (bags.padding >= 0 && index == static_cast<std::uint64_t>(bags.padding)) continue;
      const std::uint32_t position =
          staged.positions != nullptr
              ? staged.positions[i]
              : position_of(table, entry_of(table, index, LoadOnGpu()), LoadOnGpu());
      if (position == nowhere) {
        ++seen.missing;
      } else if (position >= table.hot_rows) {
        ++seen.cold;
      }
      if (real) {
        Floats<V> row;
        if (position == nowhere) {
          row = fallback_floats<V>(table, piece * V);
        } else {
          const RowAt at = position >= first_staged
                               ? table.cold_in(staged.staged, position - first_staged)
                               : table.at(position);
          row = load_floats<V>(table, at, piece * V);
        }
        const float weight = bags.weights != nullptr ? bags.weights[i] : 1.0f;
#pragma unroll
        for (int k = 0; k < V; ++k) {
          if (bags.pooling == Pooling::max) {
            sum.v[k] = n == 0 || row.v[k] > sum.v[k] ? row.v[k] : sum.v[k];
          } else {
            sum.v[k] = __fadd_rn(sum.v[k],
                                 bags.weights != nullptr ? __fmul_rn(row.v[k], weight) : row.v[k]);
          }
        }
      }
      ++n;
    }
    if (piece == 0 && counts != nullptr && staged.positions == nullptr) {
      add_to(&counts->keys, end - begin);
      add_to(&counts->cold, seen.cold);
      add_to(&counts->missing, seen.missing);
    }
    if (!real) continue;
    if (bags.pooling == Pooling::mean && n > 0) {
#pragma unroll
      for (int k = 0; k < V; ++k) sum.v[k] = __fdiv_rn(sum.v[k], static_cast<float>(n));
    }
    store_floats<V>(type, out, piece * V, sum);
  }
}

template <int V>
__global__ void pool_all(TableView table, Bags bags, Staged staged, LookupCounts* counts,
                         RowsOut out, std::uint32_t lanes) {
  const std::uint64_t bag = thread_index() / lanes;
  if (bag >= bags.bags) return;
  pool_one<V>(table, bags, staged, bag, threadIdx.x % lanes, lanes, counts, out.type,
              static_cast<std::byte*>(out.rows) + bag * out.stride);
}

// A warp a bag.
__global__ void pool_tables(const PooledTable* tables, std::uint64_t each, Bags bags,
                            LookupCounts* counts, RowsOut out) {
  const std::uint64_t bag = thread_index() / 32;
  if (bag >= bags.bags) return;
  const PooledTable in = tables[bag / each];
  std::byte* const to =
      static_cast<std::byte*>(out.rows) + bag % each * out.stride + in.at * element_bytes(out.type);
  const std::uintptr_t piece = 4 * std::uintptr_t{element_bytes(out.type)};
  if (in.table.row.dim % 4 == 0 && reinterpret_cast<std::uintptr_t>(to) % piece == 0) {
    pool_one<4>(in.table, bags, {}, bag, threadIdx.x % 32, 32, counts, out.type, to);
  } else {
    pool_one<1>(in.table, bags, {}, bag, threadIdx.x % 32, 32, counts, out.type, to);
  }
}

// A group of 8 lanes a row, 4 rows each in flight.
__global__ void stage_all(TableView table, ColdList sorted, std::uint32_t* positions,
                          std::byte* staged) {
  constexpr int at_once = 4;
  constexpr std::uint32_t lanes = 8;
  const std::uint32_t count = min(*sorted.count, sorted.capacity);
  const std::uint64_t groups = std::uint64_t{gridDim.x} * block_threads / lanes;
  const std::uint32_t words = table.cold_row.stride / 16;
  const std::uint32_t lane = threadIdx.x % lanes;
  for (std::uint64_t base = thread_index() / lanes; base < count; base += at_once * groups) {
    for (std::uint32_t w = lane; w < words; w += lanes) {
      uint4 word[at_once];
#pragma unroll
      for (int k = 0; k < at_once; ++k)
        if (const std::uint64_t i = base + k * groups; i < count)
          word[k] = load_word<uint4>(table,
                                     table.cold_at(sorted.positions[i]).at + 16 * std::uint64_t{w});
#pragma unroll
      for (int k = 0; k < at_once; ++k)
        if (const std::uint64_t i = base + k * groups; i < count)
          reinterpret_cast<uint4*>(table.cold_in(staged, i).at)[w] = word[k];
    }
    if (lane == 0)
      for (int k = 0; k < at_once; ++k)
        if (const std::uint64_t i = base + k * groups; i < count)
          positions[sorted.which[i]] = first_staged + static_cast<std::uint32_t>(i);
  }
}

}  // namespace

void pool(const TableView& table, const Bags& bags, const Staged& staged, LookupCounts* counts,
          const RowsOut& out, Stream stream) {
  const OnDeviceOf device(stream);
  if (table.row.dim % 4 == 0 && aligned(out, 4 * std::uint64_t{element_bytes(out.type)})) {
    const std::uint32_t lanes = lanes_for(table.row.dim / 4);
    launch_threads(pool_all<4>, bags.bags * lanes, stream, table, bags, staged, counts, out, lanes);
  } else {
    const std::uint32_t lanes = lanes_for(table.row.dim);
    launch_threads(pool_all<1>, bags.bags * lanes, stream, table, bags, staged, counts, out, lanes);
  }
}

void pool_many(const PooledTable* tables, std::uint64_t count, const Bags& bags,
               LookupCounts* counts, const RowsOut& out, Stream stream) {
  const OnDeviceOf device(stream);
  if (count == 0 || bags.bags == 0) return;
  launch_threads(pool_tables, bags.bags * 32, stream, tables, bags.bags / count, bags, counts, out);
}

void stage_rows(const TableView& table, const ColdList& sorted, std::uint32_t* positions,
                std::byte* staged, std::uint32_t blocks, Stream stream) {
  const OnDeviceOf device(stream);
  stage_all<<<blocks, block_threads, 0, stream.cuda()>>>(table, sorted, positions, staged);
  check(cudaGetLastError());
}

}  // namespace holdall::kernels::gpu
