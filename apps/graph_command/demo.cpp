#include "apps/graph_command/demo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "apps/graph/reference.hpp"
#include "apps/graph_command/run.hpp"

namespace holdall::apps {

using namespace holdall::graph;  // NOLINT: this file is about graphs

namespace {

struct DemoRow {
  std::string job, where;
  Traffic traffic;
  double seconds = 0;
  double in_memory_seconds = 0;
};

// The largest chunk that still cuts a quarter of the edges into eight.
Bytes demo_chunk(Bytes edge_bytes) {
  Bytes chunk = Bytes{8} << 20;
  while (chunk > Bytes{2} << 20 && chunk * 32 > edge_bytes) chunk /= 2;
  return chunk;
}

struct DemoRun {
  BfsResult bfs;
  PagedPageRank pagerank;
  Traffic bfs_traffic, pagerank_traffic;
  Bytes state = 0;  // leased for good: vertex data
};

// `warm`: whether the edges are in memory already when a job starts, as far as they fit.
DemoRun run_demo_jobs(const Opened& opened, const Config& config, std::uint64_t source, bool warm) {
  DemoRun run;
  Engine engine(config);
  const PagedGraph graph = page(engine, opened, {});
  Bfs bfs(graph);
  PageRankRun pagerank(graph);
  run.state = engine.leased();
  if (warm) {
    bfs.run(source);
    pagerank.run({.iterations = 1});
  }
  Traffic before = engine.stats();
  run.bfs = bfs.run(source);
  run.bfs_traffic = static_cast<Traffic>(engine.stats()) - before;
  before = engine.stats();
  run.pagerank = pagerank.run({.damping = 0.85F, .iterations = 10, .tolerance = 0});
  run.pagerank_traffic = static_cast<Traffic>(engine.stats()) - before;
  return run;
}

std::uint64_t busiest(const Csr& csr) {
  std::uint64_t best = 0;
  for (std::uint64_t v = 1; v < csr.vertices(); ++v)
    if (csr.out.degree(v) > csr.out.degree(best)) best = v;
  return best;
}

}  // namespace

int run_demo(const GraphOptions& o) {
  // 1. the graph, and the answers in memory
  Opened opened = open_input(o);
  Opened reference;
  reference.file = opened.file;
  const Csr& csr = opened.csr ? *opened.csr : in_memory(reference);
  const std::uint64_t source = busiest(csr);
  Config config = o.config;
  const Bytes edge_bytes = opened.edges() * sizeof(Vertex);
  config.chunk = demo_chunk(edge_bytes);
  // 2. with everything in memory: how long that takes, and how much vertex data there is
  apps::Progress progress("everything in memory");
  const DemoRun in_memory_run = run_demo_jobs(opened, config, source, true);
  progress.show("the reference", 0, 0);
  const PageRank expected =
      reference_pagerank(csr, {.damping = 0.85, .iterations = 10, .tolerance = 0});
  // 3. with room for the vertex data and a quarter of the edges
  const Bytes quarter = std::max(round_up(edge_bytes / 4, config.chunk), config.chunk);
  config.memory = in_memory_run.state + quarter;
  if (quarter >= edge_bytes)
    note(
        fmt::format("the edges of this graph fit into one chunk of {}, so nothing is evicted: try "
                    "a bigger one",
                    to_string(config.chunk)));
  fmt::print(
      "{}: {} vertices, {} edges in {}; memory for the vertex data ({}) and a quarter of the "
      "edges: {}\n",
      opened.name, opened.vertices(), opened.edges(), to_string(edge_bytes),
      to_string(in_memory_run.state), to_string(config.memory));
  std::vector<DemoRow> rows;
  std::optional<std::string> wrong;
  constexpr std::array policies{"lru", "mru", "fifo", "clock", "lfu", "random"};
  for (const char* policy : policies) {
    progress.show(policy, rows.size() / 2, policies.size());
    config.policy = policy;
    const DemoRun run = run_demo_jobs(opened, config, source, false);
    if (!wrong) wrong = verify_parents(csr, source, run.bfs.parents);
    if (!wrong) wrong = compare_scores(run.pagerank.scores, expected.scores, 1e-4);
    rows.push_back({"bfs", policy, run.bfs_traffic, run.bfs.seconds, in_memory_run.bfs.seconds});
    rows.push_back({"pagerank", policy, run.pagerank_traffic, run.pagerank.seconds,
                    in_memory_run.pagerank.seconds});
  }
  // 4. the table
  fmt::print("\n{:<10}{:<10}{:>8}{:>8}{:>12}{:>12}{:>14}{:>10}{:>12}\n", "job", "policy", "hits",
             "faults", "bytes in", "bytes out", "link", "time", "in memory");
  std::ranges::stable_sort(rows, {}, &DemoRow::job);
  for (const DemoRow& row : rows)
    fmt::print("{:<10}{:<10}{:>8}{:>8}{:>12}{:>12}{:>14}{:>8.3f} s{:>10.3f} s\n", row.job,
               row.where, row.traffic.hits, row.traffic.faults, to_string(row.traffic.bytes_in),
               to_string(row.traffic.bytes_out), rate(row.traffic.bytes_in, row.seconds),
               row.seconds, row.in_memory_seconds);
  if (wrong) {
    tell("holdall: an answer is wrong: {}\n", *wrong);
    return failed;
  }
  fmt::print("\nAll answers equal those of the in-memory reference.\n");
  return 0;
}

}  // namespace holdall::apps
