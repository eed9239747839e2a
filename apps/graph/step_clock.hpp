// Tells a Watch of each step of a run, and adds the steps up.
#pragma once

#include <chrono>
#include <cstdint>

#include "apps/graph/level_schedule.hpp"
#include "apps/graph/paged_graph.hpp"

namespace holdall::graph {

class StepClock {
 public:
  StepClock(const PagedGraph& graph, const Watch& watch)
      : engine_(graph.engine()),
        exchange_(graph.exchange()),
        watch_(watch),
        run_began_(Clock::now()) {}

  void begin() {
    step_began_ = Clock::now();
    if (watch_) before_ = engine_.stats();
  }
  // After the stream was waited for. `did` is of this part of a split graph; all of them are added.
  void end(std::uint64_t vertices, LevelWork did, bool bottom_up = false) {
    std::uint64_t sums[] = {did.edges, did.edges_in_place, did.bytes_in_place};
    exchange_.sum(sums);
    did = {.edges = sums[0], .edges_in_place = sums[1], .bytes_in_place = sums[2]};
    ++totals_.steps;
    totals_.edges += did.edges;
    totals_.edges_in_place += did.edges_in_place;
    totals_.bytes_in_place += did.bytes_in_place;
    if (!watch_) return;
    Step step;
    step.number = totals_.steps;
    step.vertices = vertices;
    step.edges = did.edges;
    step.seconds = since(step_began_);
    step.traffic = static_cast<Traffic>(engine_.stats()) - before_;
    step.edges_in_place = did.edges_in_place;
    step.bytes_in_place = did.bytes_in_place;
    step.bottom_up = bottom_up;
    watch_(step);
  }
  double seconds() const { return since(run_began_); }
  // With the time until now.
  RunTotals totals() const {
    RunTotals all = totals_;
    all.seconds = seconds();
    return all;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static double since(Clock::time_point began) {
    return std::chrono::duration<double>(Clock::now() - began).count();
  }

  Engine& engine_;
  Exchange& exchange_;
  const Watch& watch_;
  Clock::time_point run_began_, step_began_;
  Traffic before_;
  RunTotals totals_;
};

}  // namespace holdall::graph
