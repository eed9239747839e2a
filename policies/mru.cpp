// MRU: evicts the chunk that was used last. The best there is on a cyclic sweep, where that chunk
// is needed again latest of all: Chou and DeWitt, "An evaluation of buffer management strategies
// for relational database systems", VLDB 1985. No parameters.
// A search steps over the newest chunks that are in use, one by one.
#include "policies/built_in.hpp"
#include "policies/queues.hpp"

namespace holdall::policies {

namespace {

class Mru final : public UsesKnown<Mru> {
 public:
  void removed(Key chunk, Left) override {
    const Index i = chunks_.find_offered(chunk);
    if (i == none) return;
    order_.erase(chunks_, i);
    chunks_.drop(i);
  }

  std::optional<Key> victim(const MayEvict& may) override {
    for (Index i = order_.back(); i != none; i = chunks_[i].prev)
      if (may(chunks_[i].key)) return chunks_.offer(i);
    return std::nullopt;
  }

 private:
  friend UsesKnown<Mru>;

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
  List order_;  // least recently used first
};

}  // namespace

std::unique_ptr<Policy> make_mru(Parameters&) { return std::make_unique<Mru>(); }

}  // namespace holdall::policies
