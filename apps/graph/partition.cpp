#include "apps/graph/partition.hpp"

#include <algorithm>

namespace holdall::graph {

std::vector<std::uint64_t> cut_vertices(std::span<const std::uint64_t> out_offsets,
                                        std::span<const std::uint64_t> in_offsets, int parts) {
  const std::uint64_t vertices = std::max(out_offsets.size(), in_offsets.size()) - 1;
  const auto edges_before = [&](std::uint64_t v) {
    return (out_offsets.empty() ? 0 : out_offsets[v]) + (in_offsets.empty() ? 0 : in_offsets[v]);
  };
  const double edges = static_cast<double>(edges_before(vertices));
  std::vector<std::uint64_t> bounds{0};
  for (int part = 1; part < parts; ++part) {
    const double wanted = edges * part / parts;
    const auto upto = [&](std::uint64_t v) { return static_cast<double>(edges_before(v)); };
    std::uint64_t v = bounds.back();
    for (std::uint64_t past = vertices; v < past;) {  // the first that has as many before it
      const std::uint64_t middle = v + (past - v) / 2;
      if (upto(middle) < wanted)
        v = middle + 1;
      else
        past = middle;
    }
    // The list before may end nearer.
    if (v > bounds.back() && wanted - upto(v - 1) < upto(v) - wanted) --v;
    bounds.push_back(v);
  }
  bounds.push_back(vertices);
  return bounds;
}

}  // namespace holdall::graph
