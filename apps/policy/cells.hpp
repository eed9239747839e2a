// Many replays of the same requests: a cell is a policy at a capacity. Cells run on all cores; the
// requests are read once.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apps/policy/replay.hpp"

namespace holdall::lab {

struct Cell {
  std::string policy;
  ReplayOptions options;
  std::string prefetch = "none";  // only where the trace is held
};

struct Result {
  std::string trace;
  std::string policy;
  std::uint64_t capacity = 0;
  bool sizes = false;  // the capacity is in bytes
  Counts counts;
  double seconds = 0;   // that replaying it took
  double modelled = 0;  // that paging would have taken, by the cost model
};

// A trace that is held. `done` is told each result as it is ready, one at a time, from any thread.
// Throws LabError, PolicyError.
void run_cells(const Trace& trace, const std::vector<Cell>& cells,
               const std::function<void(const Result&)>& done);

// A trace that streams by, so that memory depends on distinct chunks alone; results in the cells'
// order. Throws LabError if there is no request in it.
std::vector<Result> run_cells(TraceStream& stream, const std::vector<Cell>& cells);

}  // namespace holdall::lab
