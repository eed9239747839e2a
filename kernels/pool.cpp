#include "kernels/pool.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <vector>

#include "kernels/gpu.hpp"
#include "kernels/on_host.hpp"
#include "kernels/row_on_host.hpp"

namespace holdall::kernels {
namespace {

constexpr LoadOnHost load;

void pool_one(const TableView& table, const Bags& bags, const Staged& staged, std::uint64_t bag,
              LookupCounts* counts, RowType type, std::byte* out) {
  // 1. where the bag begins and ends
  std::uint64_t begin = bags.offsets[bag];
  std::uint64_t end =
      bag + 1 < bags.bags || bags.include_last_offset ? bags.offsets[bag + 1] : bags.count;
  if (begin > end || end > bags.count) {
    if (counts != nullptr) std::atomic_ref(counts->bad_offsets).fetch_add(1);
    begin = end = 0;
  }

  // 2. its rows, in order
  std::vector<float> sum(table.row.dim, 0);
  std::uint64_t n = 0;
  LookupCounts seen;
  for (std::uint64_t i = begin; i < end; ++i) {
    if (bags.padding >= 0 && bags.indices[i] == static_cast<std::uint64_t>(bags.padding)) continue;
    const float weight = bags.weights != nullptr ? bags.weights[i] : 1;
    const bool first = n++ == 0;
    const auto put = [&](std::uint32_t k, float value) {
      if (bags.pooling == Pooling::max) {
        sum[k] = first || value > sum[k] ? value : sum[k];
      } else {
        sum[k] += bags.weights != nullptr ? value * weight : value;
      }
    };
    const std::uint32_t position =
        staged.positions != nullptr
            ? staged.positions[i]
            : position_of(table, entry_of(table, bags.indices[i], load), load);
    if (position == nowhere) {
      if (staged.positions == nullptr) ++seen.missing;
      for (std::uint32_t k = 0; k < table.row.dim; ++k)
        put(k, table.fallback != nullptr ? table.fallback[k] : 0);
    } else {
      const RowAt row = position >= first_staged
                            ? table.cold_in(staged.staged, position - first_staged)
                            : table.at(position);
      if (staged.positions == nullptr && position >= table.hot_rows) ++seen.cold;
      read_elements(row.type, table.row.dim, row.at, put);
    }
  }
  if (counts != nullptr && staged.positions == nullptr) {
    std::atomic_ref(counts->keys).fetch_add(end - begin);
    std::atomic_ref(counts->cold).fetch_add(seen.cold);
    std::atomic_ref(counts->missing).fetch_add(seen.missing);
  }

  // 3. the result
  for (std::uint32_t k = 0; k < table.row.dim; ++k)
    write_element(type, out, k,
                  bags.pooling == Pooling::mean && n > 0 ? sum[k] / static_cast<float>(n) : sum[k]);
}

}  // namespace

void pool(const TableView& table, const Bags& bags, const Staged& staged, LookupCounts* counts,
          const RowsOut& out, Stream stream) {
  if (!stream.on_host()) return gpu::pool(table, bags, staged, counts, out, stream);
  vmm::launch(stream, [=] {
    tbb::parallel_for(std::uint64_t{0}, bags.bags, [&](std::uint64_t bag) {
      pool_one(table, bags, staged, bag, counts, out.type,
               static_cast<std::byte*>(out.rows) + bag * out.stride);
    });
  });
}

void pool_many(const PooledTable* tables, std::uint64_t count, const Bags& bags,
               LookupCounts* counts, const RowsOut& out, Stream stream) {
  if (!stream.on_host()) return gpu::pool_many(tables, count, bags, counts, out, stream);
  vmm::launch(stream, [=] {
    const std::uint64_t each = bags.bags / count;
    tbb::parallel_for(std::uint64_t{0}, bags.bags, [&](std::uint64_t bag) {
      const PooledTable& in = tables[bag / each];
      pool_one(in.table, bags, {}, bag, counts, out.type,
               static_cast<std::byte*>(out.rows) + bag % each * out.stride +
                   in.at * element_bytes(out.type));
    });
  });
}

void stage_rows(const TableView& table, const ColdList& sorted, std::uint32_t* positions,
                std::byte* staged, std::uint32_t blocks, Stream stream) {
  if (!stream.on_host()) return gpu::stage_rows(table, sorted, positions, staged, blocks, stream);
  vmm::launch(stream, [=] {
    const std::uint32_t count = std::min(*sorted.count, sorted.capacity);
    tbb::parallel_for(std::uint32_t{0}, count, [&](std::uint32_t i) {
      std::memcpy(table.cold_in(staged, i).at, table.cold_at(sorted.positions[i]).at,
                  table.cold_row.stride);
      positions[sorted.which[i]] = first_staged + i;
    });
  });
}

}  // namespace holdall::kernels
