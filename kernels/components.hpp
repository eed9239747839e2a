// Connected components, the edges taken as undirected: afterwards two vertices have the same label
// if and only if they are connected. Three ways.
//
// Multistep (Slota, Rajamanickam, Madduri: BFS and coloring-based parallel algorithms for strongly
// connected components and related problems, 2014): search from a vertex of many edges
// (kernels/bfs.hpp), which finds most of the greatest component with a bit a vertex to look at,
// where trees need a label; then link those outside of it.
//
//   from = components_hub(state, stream);
//   // a search, as far as it goes, to the bitmap `found`
//   components_start_with(state, found, stream);
//   count = list_vertices(found, false, ...);
//   // demand_of_frontier(state.frontier) and components_link, as below
//
// Afforest (Sutton, Ben-Nun, Barak: Optimizing parallel graph connectivity computation via subgraph
// sampling, 2018): link every vertex along its first few edges, find the component that most are in
// by now, and link the vertices outside of it along all of their edges, those that point at them
// too. Labels are trees: a vertex's label is a vertex with a smaller id or, at a root, itself.
//
//   components_start(state, stream);
//   for (const EdgePass& pass : all_edges) components_sample(state, pass, rounds, stream);
//   components_flatten(state, stream);
//   count = components_outside(state, components_most_frequent(state, stream), stream);
//   // demand_of_frontier(state.frontier), then for each pass, of out- and of in-edges
//   components_link(state, items, pass, stream);
//   components_flatten(state, stream);
//
// Label propagation: every vertex sends its label along its edges as long as it changes.
//
//   components_start(state, stream);   // and bits: all vertices
//   while ((count = components_changed(state, stream)) > 0)
//     // demand_of_frontier(state.frontier), then for each pass, of out- and of in-edges
//     components_send(state, items, pass, stream);
//
// Nothing waits but what answers a number. Steps on one state belong on one stream. They throw
// Error if `stream` is a GPU's and the library was built without CUDA; DriverError.
#pragma once

#include <cstdint>

#include "engine/vmm/bytes.hpp"
#include "engine/vmm/stream.hpp"
#include "kernels/demand.hpp"
#include "kernels/edges.hpp"
#include "kernels/visit.hpp"

namespace holdall::kernels {

struct ComponentsState {
  std::uint64_t vertices = 0;
  const std::uint64_t* offsets = nullptr;  // of the edges that are sampled
  const Vertex* neighbours = nullptr;      // that the step may read; aligned as ids are
  Vertex* labels = nullptr;                // [vertices], the result
  Vertex* frontier = nullptr;              // [vertices], ascending
  std::uint64_t* bits = nullptr;           // [bitmap_words(vertices)]
  void* workspace = nullptr;               // visit_workspace_bytes, 256-byte aligned
};

// Every vertex is its own label; all bits are set.
void components_start(const ComponentsState& state, Stream stream);

// A vertex that has the most edges, and how many: of several, the smallest. Waits.
struct Hub {
  Vertex vertex = 0;
  std::uint64_t edges = 0;
};
Hub components_hub(const ComponentsState& state, Stream stream);

// The vertices whose bit is set in `joined` are connected: the smallest of them is their label.
// Every other vertex is its own.
void components_start_with(const ComponentsState& state, const std::uint64_t* joined,
                           Stream stream);

// Links every vertex along those of its first `rounds` edges that are in the pass. `blocks` as in
// ItemPass.
void components_sample(const ComponentsState& state, const EdgePass& pass, std::uint32_t rounds,
                       unsigned blocks, Stream stream);

// Makes every label a root.
void components_flatten(const ComponentsState& state, Stream stream);

// The label that most of a thousand vertices have, the same thousand each time. Waits.
Vertex components_most_frequent(const ComponentsState& state, Stream stream);

// Makes the vertices that have another label the frontier and answers their number. Waits.
std::uint64_t components_outside(const ComponentsState& state, Vertex label, Stream stream);

// Links the items' vertices along their edges.
void components_link(const ComponentsState& state, const WorkItems& items, const ItemPass& pass,
                     Stream stream);

// Links every vertex with what its label is in `others`, [vertices]: labels that somebody else came
// to, over other edges of the same vertices.
void components_join(const ComponentsState& state, const Vertex* others, Stream stream);

// Makes the vertices whose label has changed (whose bit is set) the frontier, clears the bits and
// answers how many there are. Waits.
std::uint64_t components_changed(const ComponentsState& state, Stream stream);

// Lowers the labels of the items' neighbours to the label of the items' vertex.
void components_send(const ComponentsState& state, const WorkItems& items, const ItemPass& pass,
                     Stream stream);

}  // namespace holdall::kernels
