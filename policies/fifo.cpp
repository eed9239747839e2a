// FIFO: evicts the chunk that has been resident longest, used or not. Belady, "A study of
// replacement algorithms for a virtual-storage computer", IBM Systems Journal 5(2), 1966. No
// parameters. A hit changes nothing, so it costs next to nothing.
#include "policies/built_in.hpp"
#include "policies/queues.hpp"

namespace holdall::policies {

namespace {

class Fifo final : public UsesKnown<Fifo> {
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
  void expect(std::span<const Key> chunks) override { chunks_.prefetch_places(chunks); }

 private:
  friend UsesKnown<Fifo>;

  struct Node : Link {
    Key key;
  };

  void use(Key chunk, Index i, const Request&) {
    if (i == none) order_.push_back(chunks_, chunks_.add({{}, chunk}));
  }

  Known<Node> chunks_;
  EvictionOrder order_;  // longest resident first
};

}  // namespace

std::unique_ptr<Policy> make_fifo(Parameters&) { return std::make_unique<Fifo>(); }

}  // namespace holdall::policies
