// What all frontier algorithms share: a frontier as a bitmap and as a list, and the room that a
// step needs to visit every edge of a pass of work items (kernels/demand.hpp). How a step visits
// them is in kernels/visit_on_host.hpp and kernels/visit.cuh.
#pragma once

#include <cstdint>

#include "engine/vmm/bytes.hpp"
#include "engine/vmm/stream.hpp"
#include "kernels/demand.hpp"

namespace holdall::kernels {

// For passes of at most so many edges and item ranges, and for list_vertices.
Bytes visit_workspace_bytes(std::uint64_t vertices, std::uint64_t pass_edges,
                            std::uint64_t pass_ranges, Stream stream);

// The vertices whose bit is `value`, ascending, to `list`; answers their number. Waits.
// `workspace`: visit_workspace_bytes, 256-byte aligned.
std::uint64_t list_vertices(const std::uint64_t* bits, bool value, std::uint64_t vertices,
                            Vertex* list, void* workspace, Stream stream);

// Those of the `count` vertices of a list, ascending, that are in [first, past): `first` and `past`
// as positions in it. Waits. `workspace` as above.
struct ListPart {
  std::uint64_t first = 0;
  std::uint64_t past = 0;
};
ListPart part_of_list(const Vertex* list, std::uint64_t count, std::uint64_t first,
                      std::uint64_t past, void* workspace, Stream stream);

}  // namespace holdall::kernels
