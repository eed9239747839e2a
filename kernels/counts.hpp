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

// Halves all counts, of `entries` entries, so many times; 16: all are 0.
void halve_counts(std::uint32_t* counts, std::uint64_t entries, std::uint32_t times, Stream stream);
constexpr std::uint32_t halved_count(std::uint32_t two, std::uint32_t times) {
  const std::uint32_t left = 0xffffu >> times;
  return two >> times & (left << 16 | left);
}

}  // namespace holdall::kernels
