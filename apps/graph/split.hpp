// Runs an algorithm over a graph that is split over the devices of an engine: each has the edges of
// a range of vertices, in its own memory and over its own link, and a thread that drives it.
//
//   Engine engine({.memory = 80_GiB, .devices = 2});
//   const BfsResult result = on_all_devices(engine, file, {}, [](const PagedGraph& part) {
//     return Bfs(part).run(0);
//   });
//
// BFS, SSSP, PageRank and components are written for parts; the others need the whole graph.
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <type_traits>

#include "apps/graph/paged_graph.hpp"

namespace holdall::graph {

// Calls `run` with each device's part, each call on a thread of its own. Throws what the first of
// them to fail threw, the others having ended.
void run_on_devices(Engine& engine, const GraphFile& file, const PagedGraph::Options& options,
                    const std::function<void(const PagedGraph& part)>& run);
void run_on_devices(Engine& engine, const Csr& csr, const PagedGraph::Options& options,
                    const std::function<void(const PagedGraph& part)>& run);

// The same; answers what the call for part 0 answers.
template <class Graph, class Run>
auto on_all_devices(Engine& engine, const Graph& graph, const PagedGraph::Options& options,
                    const Run& run) {
  std::optional<std::invoke_result_t<Run, const PagedGraph&>> answer;
  run_on_devices(engine, graph, options, [&](const PagedGraph& part) {
    auto its = run(part);
    if (part.exchange().part() == 0) answer.emplace(std::move(its));
  });
  return std::move(*answer);
}

}  // namespace holdall::graph
