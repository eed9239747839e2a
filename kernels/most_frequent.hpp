// A sample of vertices' labels, and the one that most of them have.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/vertex.hpp"

namespace holdall::kernels {

constexpr std::uint64_t sampled_labels(std::uint64_t vertices) {
  return vertices < 1024 ? vertices : 1024;
}

// Spread over all vertices, but not at equal distances, which a regular graph could match.
constexpr std::uint64_t sampled_vertex(std::uint64_t i, std::uint64_t vertices) {
  if (vertices <= 1024) return i;
  const std::uint64_t stride = vertices / 1024;
  return i * stride + (i * 0x9e37'79b9'7f4a'7c15 >> 32) % stride;
}

// Of several, the smallest.
inline Vertex most_frequent_of(std::vector<Vertex> labels) {
  std::sort(labels.begin(), labels.end());
  Vertex best = 0;
  std::uint64_t most = 0;
  for (std::uint64_t first = 0, i = 1; i <= labels.size(); ++i) {
    if (i < labels.size() && labels[i] == labels[first]) continue;
    if (i - first > most) {
      most = i - first;
      best = labels[first];
    }
    first = i;
  }
  return best;
}

}  // namespace holdall::kernels
