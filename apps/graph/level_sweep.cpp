// What LevelSchedule does with all edges rather than those of a frontier.
#include <algorithm>

#include "apps/graph/level_schedule.hpp"

namespace holdall::graph {

LevelWork LevelSchedule::sweep(const PagedAdjacency& edges, double share,
                               const std::function<void(const SweepWork&)>& step) {
  LevelWork did;
  if (edges.edges == 0) return did;
  ChunkSet all_chunks(edges.neighbours.chunks());
  all_chunks.add(0, edges.neighbours.chunks());
  const double needed = share * static_cast<double>(edges.neighbours.chunk_bytes());
  SweepWork work{{}, 0, edges.neighbours.data()};
  std::vector<kernels::EdgeSpan> spans;
  const auto add = [&](ChunkRun run) {
    const auto [first, count] = edges.neighbours.elements(run);
    if (!spans.empty() && spans.back().first + spans.back().count == first)
      spans.back().count += count;
    else
      spans.push_back({first, count});
    work.pass.edges += count;
  };
  const auto launch = [&] {
    work.pass.spans = spans_.send(spans);
    work.pass.spans_count = spans.size();
    step(work);
    spans_.launched();
    did.edges += work.pass.edges;
    spans.clear();
    work.pass = {};
  };
  Passes passes = graph_.engine().passes(graph_.stream(), {read(edges.neighbours, all_chunks)});
  choose(passes, edges, [&](std::uint64_t) { return needed; });
  while (passes.next()) {
    for (const Need& part : passes.parts()) add(part.run);
    launch();
  }
  if (in_place_.empty()) return did;
  for (const std::uint64_t c : in_place_) {
    add({c, 1});
    did.bytes_in_place += static_cast<Bytes>(needed);
  }
  did.edges_in_place = work.pass.edges;
  work.blocks = blocks_for(0);
  work.neighbours = edges.neighbours_in_place;
  launch();
  return did;
}

std::uint64_t LevelSchedule::fill(const PagedAdjacency& edges, std::uint64_t chunks) {
  if (edges.edges == 0) return 0;
  ChunkSet all(edges.neighbours.chunks());
  all.add(0, edges.neighbours.chunks());
  Passes passes = passes_over(edges, all);
  std::uint64_t missing = 0;
  passes.leave_out([&](const RangeState&, std::uint64_t) {
    ++missing;
    return false;
  });
  const std::uint64_t resident = edges.neighbours.chunks() - missing;
  const auto fits = static_cast<std::uint64_t>(room() / chunk_bytes_of(edges));
  const std::uint64_t more =
      resident < chunks ? std::min({chunks - resident, missing, fits}) : std::uint64_t{0};
  std::uint64_t seen = 0;
  passes.leave_out([&](const RangeState&, std::uint64_t) {
    ++seen;
    return seen * more / missing == (seen - 1) * more / missing;
  });
  while (passes.next()) {
  }
  return resident + more;
}

}  // namespace holdall::graph
