// A .hold file of a graph that does not fit in memory: entries are sorted in runs, which go to a
// folder for temporary files, and merged from there into the file.
#pragma once

#include <filesystem>

#include "apps/graph/build.hpp"
#include "apps/graph/edges.hpp"

namespace holdall::graph {

// The same file, byte for byte, as write_graph() makes of what build_csr() builds. `options.memory`
// is kept to: 8 bytes a vertex for offsets, the rest for runs. The folder, that of temporary files
// ($TMPDIR), needs 12 bytes an entry, 8 without weights. `original_ids`: to go into the file.
// Throws GraphError where the offsets and 16 MiB exceed the memory, or the folder is full.
void build_hold(const EdgeSource& source, const BuildOptions& options,
                const std::filesystem::path& path, const Array<Vertex>& original_ids = {});

}  // namespace holdall::graph
