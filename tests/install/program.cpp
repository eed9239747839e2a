#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>

#include "engine/engine.hpp"
#include "engine/vmm/host.hpp"
#include "policies/plugin.hpp"

// program PLUGIN: pages with the policy of a plug-in.
int main(int argc, char** argv) {
  using namespace holdall;
  if (argc != 2) return 2;
  const std::string policy = load_plugin(argv[1]).front();
  Engine engine({.memory = 16_MiB, .policy = policy, .driver = "host", .chunk = 2_MiB});
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
