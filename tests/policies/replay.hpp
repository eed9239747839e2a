// A memory of so many chunks in front of a policy: what a test needs to run a trace through it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <vector>

#include "policies/policy.hpp"

namespace holdall {

inline constexpr auto any = [](Key) { return true; };
inline constexpr auto no_chunk = [](Key) { return false; };

struct Replay {
  std::size_t misses = 0;
  std::size_t turned_away = 0;  // misses that were not admitted
  std::vector<Key> evicted;  // in order
};

// Admits, evicts, inserts; a chunk that is not admitted is a miss and no more. Keys are small
// numbers.
inline Replay replay(Policy& policy, std::span<const Key> trace, std::size_t capacity) {
  Replay result;
  std::uint64_t last = 0;
  for (const Key key : trace) last = std::max(last, static_cast<std::uint64_t>(key));
  std::vector<bool> resident(last + 1);
  std::size_t size = 0;
  policy.resize(capacity);
  for (const Key key : trace) {
    if (resident[static_cast<std::uint64_t>(key)]) {
      policy.accessed(key, {});
      continue;
    }
    ++result.misses;
    if (!policy.admit(key, {})) {
      ++result.turned_away;
      continue;
    }
    if (size == capacity) {
      const std::optional<Key> victim = policy.victim(any);
      if (!victim || static_cast<std::uint64_t>(*victim) > last ||
          !resident[static_cast<std::uint64_t>(*victim)]) {
        ADD_FAILURE() << "the victim is not resident";
        return result;
      }
      policy.removed(*victim, Left::evicted);
      resident[static_cast<std::uint64_t>(*victim)] = false;
      result.evicted.push_back(*victim);
      --size;
    }
    policy.inserted(key, {});
    resident[static_cast<std::uint64_t>(key)] = true;
    ++size;
  }
  return result;
}

}  // namespace holdall
