#include "apps/policy/cells.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <chrono>
#include <mutex>

#include "apps/policy/error.hpp"
#include "apps/policy/prefetching.hpp"

namespace holdall::lab {

namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

}  // namespace

void run_cells(const Trace& trace, const std::vector<Cell>& cells,
               const std::function<void(const Result&)>& done) {
  std::mutex lock;
  tbb::parallel_for(
      std::size_t{0}, cells.size(),
      [&](std::size_t i) {
        const auto began = Clock::now();
        const Cell& cell = cells[i];
        const Counts counts =
            cell.prefetch == "none"
                ? replay(trace.requests(), cell.policy, cell.options)
                : replay_prefetching(trace, cell.policy, cell.prefetch, cell.options);
        const Result result{trace.name,         cell.policy, cell.options.capacity,
                            cell.options.sizes, counts,      seconds_since(began)};
        const std::scoped_lock hold(lock);
        done(result);
      },
      tbb::simple_partitioner());
}

std::vector<Result> run_cells(TraceStream& stream, const std::vector<Cell>& cells) {
  std::vector<Replay> replays;
  std::vector<Result> results;
  for (const Cell& cell : cells) {
    replays.emplace_back(cell.policy, cell.options);
    results.push_back({{}, cell.policy, cell.options.capacity, cell.options.sizes, {}});
  }
  // One cell finds its block in the processor's cache; several are worth waking other cores for.
  const std::size_t block = cells.size() == 1 ? std::size_t{1} << 15 : std::size_t{1} << 19;
  bool any = false;
  for (Requests some = stream.next(block); some.size() > 0; some = stream.next(block)) {
    any = true;
    const auto feed = [&](std::size_t i) {
      const auto began = Clock::now();
      replays[i].feed(some);
      results[i].seconds += seconds_since(began);
    };
    if (cells.size() == 1)
      feed(0);
    else
      tbb::parallel_for(std::size_t{0}, cells.size(), feed, tbb::simple_partitioner());
  }
  if (!any)
    throw LabError(fmt::format("{}: there is no request in it", stream.reader().input().name()));
  for (std::size_t i = 0; i < cells.size(); ++i) results[i].counts = replays[i].counts();
  return results;
}

}  // namespace holdall::lab
