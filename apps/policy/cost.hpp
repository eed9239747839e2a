// What a replay would have cost on a GPU: the seconds of paging that its counts mean.
//
// The link carries `in` and `out` bytes a second, and both ways at once no more than `both`; each
// chunk that becomes resident costs the driver `chunk_seconds` on the one thread that maps. Copies
// and driver calls overlap: by `overlap`, 1 for fully, the lesser of the two is hidden behind the
// greater.
#pragma once

#include <string>

#include "apps/policy/replay.hpp"

namespace holdall::lab {

struct Cost {
  // Measured on one H200, PCIe 5.0 x16, 8 MiB chunks.
  double in = 53e9, out = 54e9, both = 91e9;  // bytes a second
  double chunk_seconds = 46e-6;               // an unmap, a map and a set-access
  double overlap = 1;                         // 0 to 1

  double seconds(const Counts& counts) const;
};

// From the JSON of `holdall doctor --json` (its first device with a link; of the driver's costs, those
// of the size nearest to `chunk`), or an object with the keys link_in, link_out, link_both,
// chunk_seconds, overlap; what is missing keeps its default. Throws LabError.
Cost read_cost(const std::string& path, std::uint64_t chunk = std::uint64_t{8} << 20);

}  // namespace holdall::lab
