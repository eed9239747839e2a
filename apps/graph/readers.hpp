// One reader a format, told apart by open_graph() and load_graph().
#pragma once

#include "apps/graph/file.hpp"
#include "apps/graph/load.hpp"

namespace holdall::graph {

// Edge lists: SNAP, KONECT, .el, .csv, .tsv.
Csr load_text(const File& file, const LoadOptions& options, LoadReport& report);

// Coordinate files (Boisvert, Pozo, Remington, NISTIR 5935): every field and symmetry, values
// passed over; an entry (i, j) is an edge from i to j, explicit zeros too. A dense or oblong one is
// refused.
Csr load_matrix_market(const File& file, const LoadOptions& options, LoadReport& report);

// .sg: one byte `directed`, 64-bit neighbours stored, 64-bit vertices, the 64-bit offsets, the
// 32-bit neighbours, and where directed offsets and neighbours once more for the edges in.
GraphFile open_serialized(const File& file);

GraphFile open_hold(const File& file);

// Builds from `source` as the options say; `undirected`: the file says so.
Csr build_loaded(const EdgeSource& source, const LoadOptions& options, bool undirected);

}  // namespace holdall::graph
