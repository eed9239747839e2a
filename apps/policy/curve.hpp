// Miss ratio curves: the misses at every size from one pass over the trace, where the policy's
// memories of all sizes hold each other (Mattson, Gecsei, Slutz and Traiger, "Evaluation techniques
// for storage hierarchies", IBM Systems Journal 9(2), 1970). Chunks count one each. Prefetches,
// hints and removals are passed over.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/policy/trace.hpp"

namespace holdall::lab {

struct Curve {
  std::uint64_t requests = 0;
  std::vector<std::uint64_t> hits;  // at capacity c, c from 0 to the distinct chunks

  std::uint64_t misses(std::uint64_t capacity) const {
    return requests - hits[std::min<std::size_t>(capacity, hits.size() - 1)];
  }
};

// Stack distances by a tree of bits over the times of last uses: O(log n) a request.
Curve lru_curve(const Requests& requests, std::size_t distinct);
// The memories of mru differ in one place a request: O(1).
Curve mru_curve(const Requests& requests, std::size_t distinct);
// Those of opt, that brings in every chunk, may differ in many places a request, O(log n) each: it
// takes as long as opt_misses at some thousand sizes. The requests need not have their next uses.
// Throws LabError as next_demands does.
Curve opt_curve(const Requests& requests, std::size_t distinct);
// For each request, the number of the next one that needs the same chunk. Throws LabError past 2^32
// - 2 requests.
std::vector<RequestNumber> next_demands(const Requests& requests, std::size_t distinct);

// The curve of lru from a sample of the chunks, by their hash: Waldspurger, Park, Garthwaite and
// Ahmad, "Efficient MRC construction with SHARDS", FAST 2015, with its correction for requests that
// the sample lacks or has too many of. The error is the standard error of the miss ratio over
// `groups` disjoint parts of the sample.
struct SampledPoint {
  std::uint64_t capacity;
  double miss_ratio, error;
};
std::vector<SampledPoint> sampled_lru_curve(const Trace& trace, double rate,
                                            const std::vector<std::uint64_t>& capacities);

// Misses of OPT for chunks of one size: Belady's MIN where every chunk must be brought in, and
// where a chunk may be bypassed, which no policy can beat. The requests have their next uses.
std::uint64_t opt_misses(const Requests& requests, std::uint64_t capacity, bool bypass);

}  // namespace holdall::lab
