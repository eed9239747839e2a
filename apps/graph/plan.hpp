// What will live where, from the counts of a graph alone: before anything is read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/graph/csr.hpp"
#include "engine/vmm/stream.hpp"

namespace holdall::graph {

struct PlanInput {
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;  // entries: an undirected edge makes two
  bool directed = false;
  bool weighted = false;
  Bytes memory = 0;  // of all devices
  std::uint64_t devices = 1;
  Stream stream{static_cast<vmm::HostStream*>(nullptr)};  // of the driver: what kernels work with
  Bytes chunk = 8_MiB;
  double link_rate = 0;  // bytes a second; 0: unknown
};

// Of one algorithm. What stays in memory is counted as a run leases it, by whole chunks; with
// several devices about, since the graph is split by edges.
struct AlgorithmPlan {
  std::string name;      // as in `holdall graph NAME`
  Bytes offsets = 0;     // always in memory
  Bytes state = 0;       // of the vertices; always in memory
  Bytes edges = 0;       // neighbours and weights that a pass over all edges reads
  Bytes resident = 0;    // of those, what there is room for
  Bytes paged = 0;       // of those, what each pass moves over the link, at least
  Bytes needed = 0;      // the least memory that will do
  bool fits = false;     // there is as much
  bool possible = true;  // false: it needs weights, or an undirected graph
  double seconds = 0;    // a pass takes for the link alone; 0: unknown, or nothing is moved
};

std::vector<AlgorithmPlan> plan(const PlanInput& input);

}  // namespace holdall::graph
