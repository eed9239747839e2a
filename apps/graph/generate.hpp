// Made graphs. Random ones with the parameters of the GAP benchmark suite (Beamer, Asanovic,
// Patterson, arXiv:1508.03619): undirected, without duplicates or self-loops. Same shape as GAP's,
// not the same edges: the randomness is our own.
//
// Edge i is a pure function of the seed and i (kernels/random_edge.hpp), so that a graph is the
// same on every machine, for any number of threads, and can be made on a GPU.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "apps/graph/build.hpp"
#include "apps/graph/csr.hpp"
#include "apps/graph/edges.hpp"

namespace holdall::graph {

struct Generator {
  enum class Kind {
    kron,   // R-MAT with A = .57, B = C = .19 (Graph500), vertices relabelled at random
    urand,  // both ends uniform
    grid,   // rows by columns, each vertex joined to those beside, above and below: road-like
  } kind = Kind::kron;
  unsigned scale = 1;              // 2^scale vertices; 1 to 32
  std::uint64_t edge_factor = 16;  // edges drawn a vertex, before duplicates go; 1 to 65536
  std::uint64_t seed = 1;

  std::uint64_t rows = 1, columns = 1;  // of a grid, which nothing is drawn for

  std::uint64_t vertices() const {
    return kind == Kind::grid ? rows * columns : std::uint64_t{1} << scale;
  }
  std::uint64_t edges() const {  // drawn
    return kind == Kind::grid ? rows * (columns - 1) + (rows - 1) * columns : edge_factor << scale;
  }
};

// "kron:20", "urand:24:8", "grid:1000x2000". Throws GraphError naming the text and the form.
Generator parse_generator(std::string_view text, std::uint64_t seed = 1);
std::string to_string(const Generator& generator);  // "kron:20:16"

// Whether `text` asks for a generated graph rather than naming a file.
bool names_generator(std::string_view text);

Edge generate_edge(const Generator& generator, std::uint64_t i);  // i < edges()

// Throws GraphError if the graph needs more than `memory` bytes (0: what the machine has free).
Csr generate(const Generator& generator, Bytes memory = 0, const Progress& progress = {});

// The same to a .hold file, sorted on disk (external.hpp).
void generate_hold(const Generator& generator, const std::filesystem::path& path, Bytes memory,
                   const Progress& progress = {});

}  // namespace holdall::graph
