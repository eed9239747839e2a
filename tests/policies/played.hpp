// Short traces, and what a policy does with one: it is told every next use, and every fifth key is
// written.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "policies/policy.hpp"

namespace holdall {

using Trace = std::vector<Key>;

struct Outcome {
  std::size_t misses = 0, refused = 0;
  std::vector<Key> evicted;
};

// Asks `admit` on every miss.
inline Outcome played(Policy& policy, const Trace& trace, std::size_t capacity) {
  Outcome result;
  std::vector<std::uint64_t> next(trace.size());
  std::map<Key, std::uint64_t> seen;
  for (std::size_t i = trace.size(); i-- > 0;) {
    next[i] = seen.contains(trace[i]) ? seen[trace[i]] : Request::never;
    seen[trace[i]] = i;
  }
  std::set<Key> resident;
  policy.resize(capacity);
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const bool write = static_cast<std::uint64_t>(trace[i]) % 5 == 0;
    const Request request{.write = write, .next_use = next[i]};
    if (resident.contains(trace[i])) {
      policy.accessed(trace[i], request);
      continue;
    }
    ++result.misses;
    if (!policy.admit(trace[i], request)) {
      ++result.refused;
      continue;
    }
    if (resident.size() == capacity) {
      const Key victim = policy.victim([](Key) { return true; }).value();
      EXPECT_EQ(resident.erase(victim), 1u);
      policy.removed(victim, Left::evicted);
      result.evicted.push_back(victim);
    }
    policy.inserted(trace[i], request);
    resident.insert(trace[i]);
  }
  return result;
}

inline Trace make(std::size_t n, const std::function<std::size_t(std::size_t)>& key) {
  Trace trace(n);
  for (std::size_t i = 0; i < n; ++i) trace[i] = Key{key(i)};
  return trace;
}

inline std::vector<Trace> traces() {
  std::mt19937_64 random(7);
  const auto zipf = [&](double most) {
    const double u = static_cast<double>(random() >> 11) * 0x1p-53;
    return static_cast<std::size_t>(std::pow(most, u));
  };
  return {
      make(1500, [&](std::size_t) { return random() % 100; }),
      make(1500, [&](std::size_t) { return zipf(200); }),
      make(1500, [](std::size_t i) { return i % 70; }),                              // loop
      make(1500, [](std::size_t i) { return i; }),                                   // scan
      make(1500, [](std::size_t i) { return i % 80 < 40 ? i % 40 : 39 - i % 40; }),  // and back
      make(1500, [&](std::size_t i) { return i % 3 == 0 ? zipf(30) : 100 + i % 500; }),
      make(1500, [&](std::size_t i) { return i / 250 * 40 + random() % 50; }),  // shifting
  };
}

}  // namespace holdall
