// A search from one vertex, along edges of either direction, that goes on as long as a level finds
// much: of a graph of small diameter it finds most of a component, of others it soon leaves off.
//
// It needs no distances, so it takes the edges in the order in which they are at hand: the rows
// that are resident reach nearly all vertices, also those whose own rows are not. Of the others,
// rows are read until they lead to one that was found.
#pragma once

#include "apps/graph/level_schedule.hpp"
#include "apps/graph/paged_graph.hpp"
#include "apps/graph/step_clock.hpp"
#include "kernels/bfs.hpp"

namespace holdall::graph {

// Of `state`, `reached` (the array of that name) and `settled` become the vertices found; `parents`
// and `frontier` are room. Every level is a step of `clock`.
void reach(const PagedGraph& graph, LevelSchedule& schedule, const kernels::BfsState& state,
           const VertexArray<std::uint64_t>& reached, Vertex source, StepClock& clock);

}  // namespace holdall::graph
