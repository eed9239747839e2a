// Chunks in the order of their last use: what lru and mru evict from, at either end.
#pragma once

#include "policies/queues.hpp"

namespace holdall::policies {

template <class Self, class Order>
class Recency : public UsesKnown<Self> {
 public:
  void removed(Key chunk, Left) final {
    const Index i = chunks_.find_offered(chunk);
    if (i == none) return;
    order_.erase(chunks_, i);
    chunks_.drop(i);
  }

 protected:
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
  Order order_;  // least recently used first

 private:
  friend UsesKnown<Self>;
};

}  // namespace holdall::policies
