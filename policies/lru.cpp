// LRU: evicts the chunk whose last use is longest ago. Denning, "The working set model for program
// behavior", CACM 11(5), 1968, gives the reason: what was used lately is used again. No parameters.
// Fails on a sweep that is longer than the memory, where every use is a fault; see mru.
#include "policies/built_in.hpp"
#include "policies/order.hpp"
#include "policies/slab.hpp"

namespace holdall::policies {

namespace {

class Lru final : public Policy {
 public:
  void inserted(Key chunk, const Request&) override { use(chunk); }
  void accessed(Key chunk, const Request&) override { use(chunk); }

  void removed(Key chunk, Left) override {
    const Index i = chunks_.find(chunk);
    if (i == none) return;
    order_.erase(chunks_, i);
    chunks_.drop(i);
  }

  std::optional<Key> victim(const MayEvict& may) override {
    const Index i = order_.first(chunks_, may);
    return i == none ? std::nullopt : std::optional(chunks_[i].key);
  }

 private:
  struct Node : Link {
    Key key;
  };

  void use(Key chunk) {
    if (const Index i = chunks_.find(chunk); i != none)
      order_.move_to_back(chunks_, i);
    else
      order_.push_back(chunks_, chunks_.add({{}, chunk}));
  }

  Chunks<Node> chunks_;
  EvictionOrder order_;  // least recently used first
};

}  // namespace

std::unique_ptr<Policy> make_lru(Parameters&) { return std::make_unique<Lru>(); }

}  // namespace holdall::policies
