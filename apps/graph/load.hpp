// From a file of any format to a graph in memory.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "apps/graph/build.hpp"
#include "apps/graph/csr.hpp"
#include "apps/graph/graph_file.hpp"

namespace holdall::graph {

struct LoadOptions {
  // Text says nothing of directions: it is read as directed unless this is set. A symmetric Matrix
  // Market file and a KONECT file that says `sym` are undirected by themselves.
  bool symmetrize = false;
  bool deduplicate = false;
  bool remove_self_loops = false;
  bool compact = false;  // number the vertices that have edges from 0, in the order of their ids
  enum class Relabel {
    none,
    degree,  // number them from 0 in the order of how many edges they have, the most first
  } relabel = Relabel::none;
  // Pass over weights. Else they are read where the format has them: in an edge list, where the
  // first line has a third column, they are int32 if all are whole numbers below 2^31, float32 if
  // not; a weight that is negative or not finite is an error.
  bool unweighted = false;
  // Edge-list text may begin with a bare line of counts, `vertices edges`.
  enum class Header {
    automatic,  // taken as one where it cannot sensibly be an edge; else a note says what was done
    none,
    present,
  } header = Header::automatic;
  Bytes memory = 0;  // as in BuildOptions
  // Where set, the graph goes to this .hold file and what load_graph() returns is empty. It is
  // sorted on disk, so that `memory` need not hold it (external.hpp).
  std::filesystem::path sorted_to = {};
  Progress progress = {};
};

// What the reader saw; for text and Matrix Market.
struct LoadReport {
  Format format = Format::text;  // also of what was packed
  std::uint64_t edges_read = 0;
  std::vector<std::string> notes;  // for people: a comment's counts that disagree with the body
};

// Any format, in parallel. Options that change the graph also apply to .sg and .hold.
// Throws GraphError as open_graph() does, and for bad lines, ids and counts; nothing is half read.
Csr load_graph(const std::filesystem::path& path, const LoadOptions& options = {},
               LoadReport* report = nullptr);

}  // namespace holdall::graph
