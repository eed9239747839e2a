// LRU: evicts the chunk whose last use is longest ago. Denning, "The working set model for program
// behavior", CACM 11(5), 1968, gives the reason: what was used lately is used again. No parameters.
// Fails on a sweep that is longer than the memory, where every use is a fault; see mru.
#include "policies/built_in.hpp"
#include "policies/recency.hpp"

namespace holdall::policies {

namespace {

class Lru final : public Recency<Lru, EvictionOrder> {
 public:
  std::optional<Key> victim(const MayEvict& may) override {
    const Index i = order_.first(chunks_, may);
    return i == none ? std::nullopt : std::optional(chunks_.offer(i));
  }
};

}  // namespace

std::unique_ptr<Policy> make_lru(Parameters&) { return std::make_unique<Lru>(); }

}  // namespace holdall::policies
