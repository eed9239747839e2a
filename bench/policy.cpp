// What a policy costs the engine. Every registered policy is a row.
#include <benchmark/benchmark.h>

#include <random>

#include "policies/registry.hpp"

namespace {

using holdall::Key;
using holdall::Left;

constexpr std::uint64_t chunks = 100'000;

std::unique_ptr<holdall::Policy> full(const std::string& name) {
  auto policy = holdall::make_policy(name);
  policy->resize(chunks);
  for (std::uint64_t n = 0; n < chunks; ++n) policy->inserted(Key{n}, {});
  return policy;
}

// What does a hit cost, among 100,000 resident chunks, hit in no order?
void hit(benchmark::State& state, const std::string& name) {
  const auto policy = full(name);
  std::mt19937_64 random(1);
  std::vector<Key> order(1 << 16);
  for (Key& key : order) key = Key{random() % chunks};
  std::size_t i = 0;
  for (auto _ : state) policy->accessed(order[i++ % order.size()], {});
}

// And where the policy hears of 64 hits ahead, as the engine and replays tell it?
void hits(benchmark::State& state, const std::string& name) {
  const auto policy = full(name);
  std::mt19937_64 random(1);
  std::vector<Key> order(1 << 16);
  for (Key& key : order) key = Key{random() % chunks};
  constexpr std::size_t ahead = 64;
  std::size_t i = 0;
  for (auto _ : state) {
    if (i % ahead == 0) policy->expect(std::span(order).subspan(i % order.size(), ahead));
    policy->accessed(order[i++ % order.size()], {});
  }
}

// What does a replacement cost (victim, removed, inserted), among 100,000 chunks of which so many
// percent may never be evicted, so that in the end they stand in the way of every search?
void replace(benchmark::State& state, const std::string& name) {
  const auto policy = full(name);
  std::mt19937_64 random(1);
  std::vector<bool> pinned(chunks);
  for (std::size_t i = 0; i < chunks; ++i)
    pinned[i] = random() % 100 < static_cast<std::uint64_t>(state.range(0));
  const auto may = [&](Key key) { return !pinned[static_cast<std::uint64_t>(key)]; };
  for (auto _ : state) {
    const Key victim = policy->victim(may).value();
    policy->removed(victim, holdall::Left::evicted);
    policy->inserted(victim, {});
  }
}

const bool all = [] {
  for (const auto& info : holdall::list_policies()) {
    benchmark::RegisterBenchmark(("policy/hit/" + info.name).c_str(), hit, info.name);
    benchmark::RegisterBenchmark(("policy/hits/" + info.name).c_str(), hits, info.name);
    benchmark::RegisterBenchmark(("policy/replace/" + info.name).c_str(), replace, info.name)
        ->ArgName("pinned_percent")
        ->Arg(0)
        ->Arg(1)
        ->Arg(99);
  }
  return true;
}();

}  // namespace

BENCHMARK_MAIN();
