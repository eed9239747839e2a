// What it costs to read so many cold rows in each way, measured where the table lies: the ways
// cross at numbers that depend on the machine.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "apps/embedding/row_store.hpp"
#include "apps/embedding/spec.hpp"
#include "apps/embedding/streams.hpp"
#include "engine/engine.hpp"

namespace holdall::embedding {

class FetchCosts {
 public:
  struct Point {
    std::uint32_t rows = 0;
    double seconds = 0;
  };
  using Curve = std::vector<Point>;

  // How a sorted list is read.
  std::uint32_t blocks = 66;
  std::uint32_t low_bit = 0;  // of positions, that the sorting leaves out
  // Of a sorted list, so many parts in `parts` are the CPU's.
  static constexpr std::uint32_t parts = 16;
  std::uint32_t cpu_parts = 5;

  // Batches of cold keys alone stand for small ones, those with hot_keys beside them for large
  // ones: in those, cold rows that one kernel reads with all others keep the hot ones back.
  enum class Batch { small, large };
  static constexpr std::uint32_t hot_keys = 1 << 18;
  static Batch batch_of(std::uint64_t keys) {
    return keys < hot_keys / 4 ? Batch::small : Batch::large;
  }

  // Nothing measured: everything is read directly.
  FetchCosts() = default;
  void add(Batch batch, Fetch fetch, Point point) { curve_of(batch, fetch).push_back(point); }
  const Curve& curve(Batch batch, Fetch fetch) const {
    return const_cast<FetchCosts*>(this)->curve_of(batch, fetch);
  }
  // Of `fetch` for so many cold rows, between and beyond what was measured.
  double seconds(Batch batch, Fetch fetch, std::uint32_t rows) const;
  Fetch best(Batch batch, std::uint32_t rows) const;

 private:
  Curve& curve_of(Batch batch, Fetch fetch) {
    return curves_[static_cast<std::size_t>(batch)][static_cast<std::size_t>(fetch)];
  }
  std::array<std::array<Curve, 6>, 2> curves_;
};

// Measures with random cold positions of a table; leaves `costs` as it is where too few rows are
// cold to matter.
void measure_costs(Engine& engine, Stream stream, const std::shared_ptr<Streams>& streams,
                   const kernels::TableView& view, std::uint64_t positions, FetchCosts& costs);

}  // namespace holdall::embedding
