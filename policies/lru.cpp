// LRU: evicts the chunk whose last use is longest ago. Denning, "The working set model for program
// behavior", CACM 11(5), 1968, gives the reason: what was used lately is used again. No parameters.
// Fails on a sweep that is longer than the memory, where every use is a fault; see mru.
#include "policies/built_in.hpp"
#include "policies/queues.hpp"

namespace holdall::policies {

namespace {

class Lru final : public UsesKnown<Lru> {
 public:
  void removed(Key chunk, Left) override {
    const Index i = chunks_.find_offered(chunk);
    if (i == none) return;
    order_.erase(chunks_, i);
    chunks_.drop(i);
  }

  std::optional<Key> victim(const MayEvict& may) override {
    const Index i = order_.first(chunks_, may);
    return i == none ? std::nullopt : std::optional(chunks_.offer(i));
  }

 private:
  friend UsesKnown<Lru>;

  struct Node : Link {
    Key key;
  };

  void use(Key chunk, Index i, const Request&) {
    if (i != none)
      order_.move_to_back(chunks_, i);
    else
      order_.push_back(chunks_, chunks_.add({{}, chunk}));
  }

  Known<Node> chunks_;
  EvictionOrder order_;  // least recently used first
};

}  // namespace

std::unique_ptr<Policy> make_lru(Parameters&) { return std::make_unique<Lru>(); }

}  // namespace holdall::policies
