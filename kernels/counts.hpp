// How often the entries of an embedding table are asked for: histograms of the counts, and who
// should change places.
#pragma once

#include <cstdint>

#include "engine/vmm/stream.hpp"
#include "kernels/write_rows.hpp"

namespace holdall::kernels {

constexpr std::uint32_t count_bins = 4096;  // the last for all counts above

struct Histograms {
  std::uint32_t* hot = nullptr;   // [count_bins] of entries in device memory, by count
  std::uint32_t* cold = nullptr;  // [count_bins] of the others
};
// Clears them first.
void count_entries(const TableView& table, const std::uint32_t* counts, const Histograms& to,
                   Stream stream);

// Entries and where they are: `hot` ones asked for less than `below` times, `cold` ones at least
// `from` times; as many of each as the lists hold. Counts are cleared first; they may end above the
// capacity.
struct Choice {
  std::uint32_t below = 0;
  std::uint32_t from = 0;
  std::uint32_t capacity = 0;
  Move* hot = nullptr;
  Move* cold = nullptr;
  std::uint32_t* hot_count = nullptr;
  std::uint32_t* cold_count = nullptr;
};
void choose_moves(const TableView& table, const std::uint32_t* counts, const Choice& choice,
                  Stream stream);

// Halves all counts, of `entries` entries.
void halve_counts(std::uint32_t* counts, std::uint64_t entries, Stream stream);

}  // namespace holdall::kernels
