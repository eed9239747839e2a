// Traces made by rule, the same for the same seed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/trace.hpp"

namespace holdall::lab {

struct Synthesis {
  std::string pattern = "zipf";  // one of patterns()
  std::uint64_t requests = 1'000'000, chunks = 10'000;
  double skew = 1;                // zipf, shift: the exponent
  std::uint64_t window = 0;       // frontier, shift: chunks in use at once; 0: a tenth
  double writes = 0;              // share of the requests that write
  std::uint64_t bytes = 8 << 20;  // of a chunk
  std::uint64_t seed = 1;
};

// Their names and what each does.
struct Pattern {
  const char *name, *summary;
};
const std::vector<Pattern>& patterns();

// Tells `each` the requests in order. Throws LabError for an unknown pattern or a number out of
// bounds.
void synthesise(const Synthesis& what, const std::function<void(const TraceRecord&)>& each);

}  // namespace holdall::lab
