// What the sub-commands of `holdall graph` read: their options, and the graph.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "apps/command.hpp"
#include "apps/graph/bfs.hpp"
#include "apps/graph/components.hpp"
#include "apps/graph/load.hpp"
#include "apps/graph/paged_graph.hpp"
#include "apps/graph/pagerank.hpp"
#include "apps/graph/sssp.hpp"

namespace holdall::apps {

struct GraphOptions {
  std::string input;
  std::string output;
  graph::LoadOptions load;
  std::uint64_t seed = 1;
  std::string weights;       // to give to a graph that has none: "int32", "float32"
  bool uses_weights = true;  // else those of a file are passed over
  bool pinned = false;
  Config config;
  graph::ScheduleOptions schedule;
  std::string result;
  bool verify = false;
  bool json = false;
  // Of single algorithms.
  std::uint64_t source = 0;
  std::uint64_t sources = 0;  // drawn; 0: `source`
  graph::BfsOptions bfs;
  graph::SsspOptions sssp;
  graph::ComponentsOptions components;
  graph::PagedPageRankOptions pagerank;
};

// A graph where it lies, or in memory: from a generator, from text.
struct Opened {
  graph::GraphFile file;
  std::unique_ptr<graph::Csr> csr;
  std::string name;

  bool in_place() const { return csr == nullptr; }
  std::uint64_t vertices() const { return csr ? csr->vertices() : file.vertices; }
  std::uint64_t edges() const { return csr ? csr->edges() : file.edges; }
};

void add_load_options(CLI::App& command, GraphOptions& options);
// The file, or the generator's name, and what is done to it.
void add_input(CLI::App& command, GraphOptions& options);

Opened open_input(const GraphOptions& options);
graph::PagedGraph page(Engine& engine, const Opened& opened,
                       const graph::PagedGraph::Options& options,
                       const graph::PagedGraph::Part& part = {});
// Reads it if it is not in memory.
const graph::Csr& in_memory(Opened& opened);

}  // namespace holdall::apps
