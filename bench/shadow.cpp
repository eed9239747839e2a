// What shadow mode costs a running engine: the time of one request, told to the shadows of lirs and
// s3fifo.
#include <benchmark/benchmark.h>

#include <cmath>
#include <random>
#include <vector>

#include "engine/shadows.hpp"

namespace {

using holdall::Key;

constexpr std::uint64_t chunk = 8 << 20;

// Zipf 1.0 over four times the chunks that fit.
std::vector<Key> popular(std::uint64_t fit) {
  std::mt19937_64 random(1);
  std::vector<Key> order(1 << 16);
  for (Key& key : order) {
    const double u = static_cast<double>(random() >> 11) * 0x1p-53;
    key = Key{static_cast<std::uint64_t>(std::pow(static_cast<double>(4 * fit), u))};
  }
  return order;
}

// A budget of so many chunks: 256 are all shown to the shadows, of 16,384 (128 GiB) one in 64 is.
void request(benchmark::State& state) {
  const auto fit = static_cast<std::uint64_t>(state.range(0));
  holdall::Shadows shadows("lirs,s3fifo", fit * chunk);
  const std::vector<Key> order = popular(fit);
  const auto may = [](Key) { return true; };
  std::size_t i = 0;
  for (auto _ : state) shadows.request(order[i++ % order.size()], {.bytes = chunk}, may);
}
BENCHMARK(request)->Name("shadow/request")->ArgName("chunks")->Arg(256)->Arg(2048)->Arg(16384);

}  // namespace

BENCHMARK_MAIN();
