#include "kernels/counts.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>

#include "kernels/gpu.hpp"
#include "kernels/on_host.hpp"
#include "kernels/row_on_host.hpp"

namespace holdall::kernels {
namespace {

constexpr LoadOnHost load;

std::uint32_t count_of(std::uint32_t* counts, std::uint64_t entry) {
  return std::min(load(counts + entry / 2) >> (entry % 2 != 0 ? 16 : 0) & 0xffff, count_bins - 1);
}

}  // namespace

void count_entries(const TableView& table, const std::uint32_t* counts, const Histograms& to,
                   Stream stream) {
  if (!stream.on_host()) return gpu::count_entries(table, counts, to, stream);
  vmm::launch(stream, [=] {
    std::fill_n(to.hot, count_bins, 0);
    std::fill_n(to.cold, count_bins, 0);
    tbb::parallel_for(std::uint64_t{0}, table.entry_count, [&](std::uint64_t entry) {
      const std::uint32_t position = position_of(table, entry, load);
      if (position == nowhere) return;
      std::uint32_t* const bins = position < table.hot_rows ? to.hot : to.cold;
      const std::uint32_t count = count_of(const_cast<std::uint32_t*>(counts), entry);
      std::atomic_ref(bins[count]).fetch_add(1, std::memory_order_relaxed);
    });
  });
}

void choose_moves(const TableView& table, const std::uint32_t* counts, const Choice& choice,
                  Stream stream) {
  if (!stream.on_host()) return gpu::choose_moves(table, counts, choice, stream);
  vmm::launch(stream, [=] {
    *choice.hot_count = *choice.cold_count = 0;
    tbb::parallel_for(std::uint64_t{0}, table.entry_count, [&](std::uint64_t entry) {
      const std::uint32_t position = position_of(table, entry, load);
      if (position == nowhere) return;
      const std::uint32_t count = count_of(const_cast<std::uint32_t*>(counts), entry);
      const bool hot = position < table.hot_rows;
      if (hot ? count >= choice.below : count < choice.from) return;
      const std::uint32_t at =
          std::atomic_ref(*(hot ? choice.hot_count : choice.cold_count)).fetch_add(1);
      if (at < choice.capacity)
        (hot ? choice.hot : choice.cold)[at] = {static_cast<std::uint32_t>(entry), position, 0};
    });
  });
}

void halve_counts(std::uint32_t* counts, std::uint64_t entries, std::uint32_t times,
                  Stream stream) {
  if (!stream.on_host()) return gpu::halve_counts(counts, entries, times, stream);
  vmm::launch(stream, [=] {
    tbb::parallel_for(std::uint64_t{0}, (entries + 1) / 2, [&](std::uint64_t i) {
      std::atomic_ref word(counts[i]);
      word.store(halved_count(word.load(std::memory_order_relaxed), times),
                 std::memory_order_relaxed);
    });
  });
}

}  // namespace holdall::kernels
