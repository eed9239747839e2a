#include "apps/graph/plan.hpp"

#include <algorithm>

namespace holdall::graph {

namespace {

// What an algorithm keeps and reads; its constructor says the same in arrays.
struct Needs {
  const char* name;
  std::uint64_t bits;   // a vertex
  bool schedules;       // its levels (level_schedule.hpp)
  bool in_offsets;      // of a directed graph, beside those out
  unsigned directions;  // of a directed graph's edges, that a pass reads
  bool weighted;
};
constexpr std::uint64_t id = 8 * sizeof(Vertex);
constexpr Needs all_needs[] = {
    {"bfs", 2 * id + 3, true, true, 1, false},
    {"sssp", 32 + id + 2, true, false, 1, true},
    {"pagerank", 96, false, true, 1, false},
    {"cc", 2 * id + 2, true, true, 2, false},
    {"bc", 3 * 64 + 32 + id + 1, true, false, 1, false},
    {"tc", 0, false, false, 1, false},
    {"kcore", 64 + id + 1, true, false, 1, false},
};
constexpr std::uint64_t schedule_bits = id + 2 * 64;

}  // namespace

std::vector<AlgorithmPlan> plan(const PlanInput& input) {
  std::vector<AlgorithmPlan> plans;
  for (const Needs& needs : all_needs) {
    AlgorithmPlan plan;
    plan.name = needs.name;
    plan.possible = !needs.weighted || input.weighted;
    plan.offsets =
        (input.vertices + 1) * sizeof(std::uint64_t) * (input.directed && needs.in_offsets ? 2 : 1);
    plan.state = (input.vertices * (needs.bits + (needs.schedules ? schedule_bits : 0)) + 7) / 8;
    const Bytes weight = needs.weighted ? sizeof(std::uint32_t) : 0;
    plan.edges = input.edges * (sizeof(Vertex) + weight) * (input.directed ? needs.directions : 1);
    const Bytes always = plan.offsets + plan.state;
    plan.needed =
        always + std::min(plan.edges, input.chunk + input.chunk * weight / sizeof(Vertex));
    plan.fits = plan.possible && plan.needed <= input.memory;
    plan.resident = plan.fits ? std::min(plan.edges, input.memory - always) : 0;
    plan.paged = plan.edges - plan.resident;
    if (plan.fits && input.link_rate > 0)
      plan.seconds = static_cast<double>(plan.paged) / input.link_rate;
    plans.push_back(plan);
  }
  return plans;
}

}  // namespace holdall::graph
