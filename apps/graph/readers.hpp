// One reader a format, told apart by open_graph() and load_graph().
#pragma once

#include <memory>

#include "apps/graph/file.hpp"
#include "apps/graph/load.hpp"

namespace holdall::graph {

// Edge lists: SNAP, KONECT, .el, .wel, .csv, .tsv.
Csr load_text(const File& file, const LoadOptions& options, LoadReport& report);

// Coordinate files (Boisvert, Pozo, Remington, NISTIR 5935): every field and symmetry; an entry
// (i, j) is an edge from i to j, explicit zeros too. Integer and real values are weights; complex
// ones, and those of skew-symmetric and hermitian matrices, which differ by direction, are passed
// over with a note. A dense or oblong one is refused.
Csr load_matrix_market(const File& file, const LoadOptions& options, LoadReport& report);

// Shortest-path files of the 9th DIMACS challenge.
Csr load_dimacs(const File& file, const LoadOptions& options, LoadReport& report);

// METIS graph files.
Csr load_metis(const File& file, const LoadOptions& options, LoadReport& report);

// What kind of file it is, as open_graph() says.
GraphFile describe(const std::shared_ptr<const File>& file);

// .sg: one byte `directed`, 64-bit neighbours stored, 64-bit vertices, the 64-bit offsets, the
// 32-bit neighbours, and where directed offsets and neighbours once more for the edges in.
GraphFile open_serialized(const File& file);

GraphFile open_hold(const File& file);

// Builds from `source` as the options say; `undirected`: the file says so; `ids`: those that its
// vertices had before the file was written, if any.
Csr build_loaded(const EdgeSource& source, const LoadOptions& options, bool undirected,
                 Array<Vertex> ids = {});

}  // namespace holdall::graph
