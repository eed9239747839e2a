// How `holdall graph ALGORITHM` runs: opens the graph, pages it, runs, prints and checks. An
// algorithm is a file beside this one, and a line in the table of command.cpp.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <string>

#include "apps/graph_command/input.hpp"

namespace holdall::apps {

// What an algorithm found.
struct Outcome {
  nlohmann::json facts;                            // for --json and the table
  double seconds = 0;                              // of the algorithm alone
  std::uint64_t lines = 0;                         // of --output
  std::function<std::string(std::uint64_t)> line;  // ended
  // What a serial run says is wrong with it. Called after the paged graph has gone.
  std::function<std::optional<std::string>(const graph::Csr&)> verify;
};

struct Algorithm {
  const char* name;
  const char* help;
  const char* step;   // what a step of it is called
  const char* lines;  // what --output holds
  graph::PagedGraph::Options pages;
  bool splits;  // over devices and processes: `run` is called with each part
  void (*add_options)(CLI::App& command, GraphOptions& options);
  // Before anything is paged: throws where options do not fit the graph.
  void (*check)(const GraphOptions& options, const Opened& opened);
  Outcome (*run)(const graph::PagedGraph& graph, const GraphOptions& options,
                 const graph::Watch& watch);
};

extern const Algorithm bfs, sssp, pagerank, components, centrality, triangles, kcore;

// The exit status.
int run_algorithm(const Algorithm& algorithm, const GraphOptions& options);

// Options and check of algorithms that start from one source or a batch.
void add_sources(CLI::App& command, GraphOptions& options);
void check_source(const GraphOptions& options, const Opened& opened);
std::vector<graph::Vertex> sources_of(const graph::PagedGraph& graph, const GraphOptions& options);

// "12.34 GB/s"
std::string rate(Bytes bytes, double seconds);

}  // namespace holdall::apps
