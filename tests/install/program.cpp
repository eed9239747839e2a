#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "engine/engine.hpp"
#include "engine/vmm/host.hpp"

int main() {
  using namespace holdall;
  Engine engine({.memory = 16_MiB, .policy = "lru", .driver = "host", .chunk = 2_MiB});
  auto numbers = engine.reserve<std::uint32_t>(16 << 20, {.name = "numbers"});
  const Stream stream = engine.stream();
  const std::uint64_t step = numbers.size() / 8;
  for (std::uint64_t first = 0; first < numbers.size(); first += step) {
    const auto lease = engine.acquire(stream, {write(numbers, first, step)});
    vmm::launch(stream, [at = numbers.data() + first, step] { std::fill_n(at, step, 7u); });
  }
  engine.synchronize(stream);
  const Stats stats = engine.stats();
  std::printf("%zu faults, %zu evictions\n", std::size_t(stats.faults), std::size_t(stats.evictions));
  return stats.faults == 32 && stats.evictions >= 24 ? 0 : 1;
}
