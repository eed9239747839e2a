#include "apps/graph/weights.hpp"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <bit>

namespace holdall::graph {

namespace {

// Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e37'79b9'7f4a'7c15;
  x = (x ^ x >> 30) * 0xbf58'476d'1ce4'e5b9;
  x = (x ^ x >> 27) * 0x94d0'49bb'1331'11eb;
  return x ^ x >> 31;
}

std::uint32_t weight(std::uint64_t from, std::uint64_t to, Weights kind, std::uint64_t seed) {
  const std::uint64_t drawn = mixed(mixed(seed) ^ (from << 32 | to));
  const auto whole = static_cast<std::uint32_t>(1 + (drawn >> 32) * 255 / (std::uint64_t{1} << 32));
  if (kind == Weights::int32) return whole;
  return std::bit_cast<std::uint32_t>(static_cast<float>(whole) +
                                      static_cast<float>(drawn & 0xff) / 256.0F);
}

}  // namespace

void add_weights(Csr& csr, Weights kind, std::uint64_t seed) {
  csr.weights = kind;
  const auto fill = [&](Adjacency& adjacency, bool turned) {
    adjacency.weights = Array<std::uint32_t>::uninitialized(adjacency.neighbours.size());
    using Range = tbb::blocked_range<std::uint64_t>;
    tbb::parallel_for(Range(0, csr.vertices(), 256), [&](const Range& range) {
      for (std::uint64_t v = range.begin(); v < range.end(); ++v)
        for (std::uint64_t e = adjacency.offsets[v]; e < adjacency.offsets[v + 1]; ++e) {
          std::uint64_t from = v, to = adjacency.neighbours[e];
          if (csr.directed ? turned : to < from) std::swap(from, to);
          adjacency.weights[e] = weight(from, to, kind, seed);
        }
    });
  };
  fill(csr.out, false);
  if (csr.directed) fill(csr.transposed, true);
}

}  // namespace holdall::graph
