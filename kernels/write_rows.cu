#include "kernels/write_rows.hpp"

#include "kernels/gpu.hpp"
#include "kernels/row_on_gpu.cuh"

namespace holdall::kernels::gpu {
namespace {

constexpr std::uint32_t taken = nowhere - 1;  // an entry that is about to get a place
using Wide = unsigned long long;

__device__ Wide* wide(std::uint64_t* at) { return reinterpret_cast<Wide*>(at); }

__global__ void find_all(TableView table, const std::uint64_t* keys, std::uint64_t count,
                         ColdList list, std::uint64_t* unknown) {
  const std::uint64_t i = thread_index();
  if (i == 0) *list.count = static_cast<std::uint32_t>(count);
  if (i >= count) return;
  const std::uint32_t position =
      position_of(table, entry_of(table, keys[i], LoadOnGpu()), LoadOnGpu());
  list.positions[i] = position;
  list.which[i] = static_cast<std::uint32_t>(i);
  if (position == nowhere) atomicAdd(wide(unknown), Wide{1});
}

__device__ float element(const RowsIn& rows, const std::byte* row, std::uint32_t i) {
  if (rows.type == RowType::fp32) return reinterpret_cast<const float*>(row)[i];
  return as_float(rows.type, reinterpret_cast<const std::uint16_t*>(row)[i]);
}

// By a warp: `element(k)` becomes element k of a row, for all k.
template <typename Element>
__device__ void write_row(RowAt row, std::uint32_t dim, Element element) {
  const std::uint32_t lane = threadIdx.x % 32;
  if (row.type != RowType::int8) {
    for (std::uint32_t k = lane; k < dim; k += 32)
      store_floats<1>(row.type, row.at, k, {element(k)});
    return;
  }
  float least = dim > 0 ? INFINITY : 0.0f;
  float most = -least;
  for (std::uint32_t k = lane; k < dim; k += 32) {
    const float value = element(k);
    least = value < least ? value : least;
    most = value > most ? value : most;
  }
  for (int step = 16; step > 0; step /= 2) {
    const float other_least = __shfl_xor_sync(0xFFFF'FFFF, least, step);
    const float other_most = __shfl_xor_sync(0xFFFF'FFFF, most, step);
    least = other_least < least ? other_least : least;
    most = other_most > most ? other_most : most;
  }
  const Int8Scale by = int8_scale(least, most);
  for (std::uint32_t k = lane; k < dim; k += 32)
    row.at[k] = static_cast<std::byte>(to_int8(element(k), by));
  if (lane == 0) *reinterpret_cast<Int8Scale*>(row.at + scale_at(dim)) = by;
}

// By a warp.
__device__ void copy_row(const TableView& table, RowAt from, RowAt to) {
  if (from.type != to.type)
    return write_row(to, table.row.dim,
                     [&](std::uint32_t k) { return load_floats<1>(table, from, k).v[0]; });
  const std::uint32_t stride = (to.type == table.row.type ? table.row : table.cold_row).stride;
  for (std::uint32_t k = threadIdx.x % 32; k < stride / 16; k += 32)
    reinterpret_cast<uint4*>(to.at)[k] = __ldcg(reinterpret_cast<const uint4*>(from.at) + k);
}

// A warp a row.
__global__ void write_all(TableView table, ColdList sorted, RowsIn rows) {
  const std::uint64_t i = thread_index() / 32;
  if (i >= sorted.capacity) return;
  const std::uint32_t position = sorted.positions[i];
  if (position == nowhere || (i + 1 < sorted.capacity && sorted.positions[i + 1] == position))
    return;
  const auto* const from = static_cast<const std::byte*>(rows.rows) + sorted.which[i] * rows.stride;
  write_row(table.at(position), table.row.dim,
            [&](std::uint32_t k) { return element(rows, from, k); });
}

// As in write_rows.cpp.
__device__ std::uint64_t make_entry(const TableView& table, std::uint64_t key) {
  if (table.keys == nullptr) return key < table.entry_count ? key : table.entry_count;
  if (key >= erased_slot) return table.entry_count;
  const std::uint64_t mask = table.entry_count - 1;
  for (;;) {
    std::uint64_t place = table.entry_count;
    std::uint64_t before = 0;
    std::uint64_t slot = mixed(key) & mask;
    for (std::uint64_t i = 0; i < table.entry_count; ++i, slot = (slot + 1) & mask) {
      const std::uint64_t there = LoadOnGpu()(table.keys + slot);
      if (there == key) return slot;
      if (there >= erased_slot && place == table.entry_count) {
        place = slot;
        before = there;
      }
      if (there == empty_slot) break;
    }
    if (place == table.entry_count) return place;
    if (atomicCAS(wide(table.keys + place), Wide{before}, Wide{key}) == before) return place;
  }
}

__global__ void insert_all(TableView table, const std::uint64_t* keys, std::uint64_t count,
                           FreePlaces free) {
  const std::uint64_t i = thread_index();
  if (i >= count) return;
  const std::uint64_t entry = make_entry(table, keys[i]);
  if (entry == table.entry_count) {
    atomicAdd(wide(free.refused), Wide{1});
    return;
  }
  if (atomicCAS(table.entries + entry, nowhere, taken) != nowhere) return;
  Wide left = __ldcg(wide(free.count));
  while (left > 0) {
    const Wide before = atomicCAS(wide(free.count), left, left - 1);
    if (before == left) break;
    left = before;
  }
  if (left == 0) atomicAdd(wide(free.refused), Wide{1});
  atomicExch(table.entries + entry, left == 0 ? nowhere : free.places[left - 1]);
}

__global__ void assign_all(TableView table, const std::uint64_t* keys, const std::uint32_t* places,
                           std::uint64_t count) {
  const std::uint64_t i = thread_index();
  if (i >= count) return;
  const std::uint64_t entry = make_entry(table, keys[i]);
  if (entry < table.entry_count) table.entries[entry] = places[i];
}

__global__ void erase_all(TableView table, const std::uint64_t* keys, std::uint64_t count,
                          FreePlaces free) {
  const std::uint64_t i = thread_index();
  if (i >= count) return;
  const std::uint64_t entry = entry_of(table, keys[i], LoadOnGpu());
  if (entry == table.entry_count) return;
  const std::uint32_t place = atomicExch(table.entries + entry, nowhere);
  if (place == nowhere) return;
  free.places[atomicAdd(wide(free.count), Wide{1})] = place;
  if (table.keys != nullptr) atomicExch(wide(table.keys + entry), Wide{erased_slot});
}

__global__ void copy_all(TableView table, const Move* moves, std::uint32_t count) {
  const std::uint64_t i = thread_index() / 32;
  if (i >= count) return;
  copy_row(table, table.at(moves[i].from), table.at(moves[i].to));
}

__global__ void cross_all(TableView table, std::uint32_t first, std::uint32_t count, bool up) {
  const std::uint64_t i = thread_index() / 32;
  if (i >= count) return;
  const RowAt hot = table.hot_at(first + static_cast<std::uint32_t>(i));
  const RowAt cold = table.cold_at(first + static_cast<std::uint32_t>(i));
  copy_row(table, up ? cold : hot, up ? hot : cold);
}

__global__ void flip_all(TableView table, const Move* moves, std::uint32_t count,
                         std::uint32_t* left) {
  const std::uint64_t i = thread_index();
  if (i >= count) return;
  const Move move = moves[i];
  left[i] =
      atomicCAS(table.entries + move.entry, move.from, move.to) == move.from ? move.from : move.to;
}

}  // namespace

void find(const TableView& table, const std::uint64_t* keys, std::uint64_t count,
          const ColdList& list, std::uint64_t* unknown, Stream stream) {
  const OnDeviceOf device(stream);
  launch_threads(find_all, std::max<std::uint64_t>(count, 1), stream, table, keys, count, list,
                 unknown);
}

void write_rows(const TableView& table, const ColdList& sorted, const RowsIn& rows, Stream stream) {
  const OnDeviceOf device(stream);
  launch_threads(write_all, 32 * std::uint64_t{sorted.capacity}, stream, table, sorted, rows);
}

void insert(const TableView& table, const std::uint64_t* keys, std::uint64_t count,
            const FreePlaces& free, Stream stream) {
  const OnDeviceOf device(stream);
  launch_threads(insert_all, count, stream, table, keys, count, free);
}

void assign(const TableView& table, const std::uint64_t* keys, const std::uint32_t* places,
            std::uint64_t count, Stream stream) {
  const OnDeviceOf device(stream);
  launch_threads(assign_all, count, stream, table, keys, places, count);
}

void erase(const TableView& table, const std::uint64_t* keys, std::uint64_t count,
           const FreePlaces& free, Stream stream) {
  const OnDeviceOf device(stream);
  launch_threads(erase_all, count, stream, table, keys, count, free);
}

void copy_rows(const TableView& table, const Move* moves, std::uint32_t count, Stream stream) {
  const OnDeviceOf device(stream);
  launch_threads(copy_all, 32 * std::uint64_t{count}, stream, table, moves, count);
}

void cross_rows(const TableView& table, std::uint32_t first, std::uint32_t count, bool up,
                Stream stream) {
  const OnDeviceOf device(stream);
  launch_threads(cross_all, 32 * std::uint64_t{count}, stream, table, first, count, up);
}

void flip_entries(const TableView& table, const Move* moves, std::uint32_t count,
                  std::uint32_t* left, Stream stream) {
  const OnDeviceOf device(stream);
  launch_threads(flip_all, count, stream, table, moves, count, left);
}

}  // namespace holdall::kernels::gpu
