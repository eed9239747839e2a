// What else is brought in when a chunk is asked for.
//
//   auto prefetch = make_prefetch("stride:ahead=4");
//   prefetch->requested(chunk, range, resident, wanted);   // wanted: what to bring in, best first
//
// A prefetcher is told of every request, and of what comes and leaves. It may name chunks that are
// resident already: skip those. To write one, derive from Prefetch and call register_prefetch.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "policies/policy.hpp"
#include "policies/registry.hpp"

namespace holdall {

// The chunks of one range: consecutive keys, neighbours in memory.
struct KeyRange {
  Key first{};
  std::uint64_t count = 0;

  // The key `by` chunks after `key`; false if that is outside.
  bool step(Key key, std::int64_t by, Key& result) const {
    const auto base = static_cast<std::uint64_t>(first);
    const std::uint64_t place = static_cast<std::uint64_t>(key) - base;
    const std::uint64_t other = place + static_cast<std::uint64_t>(by);  // wraps if before it
    result = Key{base + other};
    return place < count && other < count;
  }
};

// Called from one thread at a time.
class Prefetch {
 public:
  virtual ~Prefetch() = default;

  // A chunk of `range` is asked for; `resident` or not. Appends to `wanted`, which the caller
  // empties.
  virtual void requested(Key chunk, const KeyRange& range, bool resident,
                         std::vector<Key>& wanted) = 0;
  virtual void inserted(Key chunk, const KeyRange& range) { (void)chunk, (void)range; }
  virtual void removed(Key chunk, const KeyRange& range) { (void)chunk, (void)range; }
};

// "none", "next:n=4", "stride:ahead=4", "tree:density=51". Throws PolicyError. Thread-safe, as are
// the others.
std::unique_ptr<Prefetch> make_prefetch(std::string_view spec);
void register_prefetch(const PolicyInfo& info,
                       std::function<std::unique_ptr<Prefetch>(Parameters&)> maker);
std::vector<PolicyInfo> list_prefetchers();

}  // namespace holdall
