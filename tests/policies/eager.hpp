// Three references evict chunks that nobody asked them to evict: on a hit, or two for one newcomer.
// A policy that is asked for victims as room is needed cannot do the same. Here are those caches as
// wholes, to show that nothing else sets them apart, and to tell in which replays they did it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "policies/policy.hpp"

namespace holdall {

struct Eager {
  std::size_t misses = 0;
  std::size_t unasked = 0;  // evictions that made no room for a newcomer
};

// libCacheSim's SLRU with segments of these sizes, lowest first. They may add up to less than the
// capacity: then the lowest grows beyond its size, and the next hit that lets a chunk fall cuts it.
// With a lowest segment of size 0 it takes no chunk.
Eager eager_slru(std::span<const Key> trace, std::size_t capacity,
                 const std::vector<std::size_t>& sizes);

// Caffeine's S3-FIFO: a chunk that is promoted into a full main queue drives one out there, and the
// search in the small queue goes on for another.
Eager eager_s3fifo(std::span<const Key> trace, std::size_t capacity);

// libCacheSim's LIRS: a hit on a HIR chunk that is in Q only makes the LIR chunk at the bottom HIR,
// though nothing becomes LIR for it, and that drives the first chunk out of Q.
Eager eager_lirs(std::span<const Key> trace, std::size_t capacity);

}  // namespace holdall
