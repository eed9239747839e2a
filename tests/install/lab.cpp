#include <cstdio>

#include "apps/policy/curve.hpp"
#include "apps/policy/replay.hpp"
#include "apps/policy/synthesise.hpp"
#include "apps/policy/writer.hpp"

// A trace is made, written, read back and replayed.
int main() {
  using namespace holdall::lab;
  Writer writer("loop.trace", "holdall");
  synthesise({.pattern = "loop", .requests = 1000, .chunks = 100},
             [&](const holdall::TraceRecord& record) { writer.append(record); });
  writer.close();
  const Trace trace = read_trace("loop.trace");
  const Counts counts = replay(trace.requests(), "mru", {.capacity = 50});
  const Curve curve = mru_curve(trace.requests(), trace.distinct());
  std::printf("%zu misses\n", std::size_t(counts.misses));
  return counts.requests == 1000 && counts.misses == curve.misses(50) && counts.hits > 0 ? 0 : 1;
}
