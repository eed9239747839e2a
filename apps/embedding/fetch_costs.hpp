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

  // Nothing measured: everything is read directly.
  FetchCosts() = default;
  void set(Fetch fetch, Curve curve) { curves_[index(fetch)] = std::move(curve); }
  const Curve& curve(Fetch fetch) const { return curves_[index(fetch)]; }
  // Of `fetch` for so many cold rows, between and beyond what was measured.
  double seconds(Fetch fetch, std::uint32_t rows) const;
  Fetch best(std::uint32_t rows) const;

 private:
  static std::size_t index(Fetch fetch) { return static_cast<std::size_t>(fetch); }
  std::array<Curve, 4> curves_;
};

// Measures with random cold positions of a table; leaves `costs` as it is where too few rows are
// cold to matter.
void measure_costs(Engine& engine, Stream stream, const std::shared_ptr<Streams>& streams,
                   const kernels::TableView& view, std::uint64_t positions, FetchCosts& costs);

}  // namespace holdall::embedding
