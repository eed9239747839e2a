// Greedy dual: every chunk has a priority, L + (uses so far) * worth; the least goes, and L becomes
// its priority, so that what has not been used since falls behind. Young, "The k-server dual and
// loose competitiveness for paging", Algorithmica 11, 1994; Cao and Irani, "Cost-aware WWW proxy
// caching algorithms", USITS 1997. Among equals, the one longest unused goes first.
// policies/gdsf.cpp and policies/lfuda.cpp say what a chunk is worth.
#pragma once

#include <algorithm>
#include <optional>

#include "policies/policy.hpp"
#include "policies/ranked.hpp"
#include "policies/slab.hpp"

namespace holdall::policies {

struct GreedyDualRules {
  double fetch = 1;          // worth of a chunk: what it costs to bring in again
  double write_back = 0;     // and to write it back, if dirty
  bool by_size = false;      // over its bytes
  bool counts_late = false;  // a hit's own use counts from the next hit on (webcachesim)
  // A newcomer is not admitted where it would be the first to go, its priority is based on L before
  // room was made for it, and among equals the least key goes first, as a signed number (Caffeine).
  bool bypass = false;
};

class GreedyDual final : public Policy {
 public:
  explicit GreedyDual(const GreedyDualRules& rules) : rules_(rules) {}

  bool admit(Key chunk, const Request& request) override {
    if (!rules_.bypass) return true;
    base_ = age_;
    const Index top = order_.top();
    if (top == none || bytes_ + request.bytes <= capacity_) return true;
    const Node newcomer{{}, chunk, request.bytes, 1, request.write};
    return order_.rank(chunks_, top) < rank(newcomer, age_);
  }

  void inserted(Key chunk, const Request& request) override {
    ++now_;
    if (const Index i = chunks_.find(chunk); i != none) {
      Node& node = chunks_[i];
      node.dirty = node.dirty || request.write;
      if (!rules_.counts_late) ++node.uses;
      order_.update(chunks_, i, rank(node, age_));
      if (rules_.counts_late) ++node.uses;
      return;
    }
    const Index i = chunks_.add({{}, chunk, request.bytes, 1, request.write});
    bytes_ += request.bytes;
    order_.insert(chunks_, i, rank(chunks_[i], base_.value_or(age_)));
    base_.reset();
  }
  void accessed(Key chunk, const Request& request) override { inserted(chunk, request); }

  void removed(Key chunk, Left why) override {
    const Index i = chunks_.find(chunk);
    if (i == none) return;
    if (why == Left::evicted) age_ = std::max(age_, order_.rank(chunks_, i).priority);
    order_.erase(chunks_, i);
    bytes_ -= chunks_[i].bytes;
    chunks_.drop(i);
  }

  std::optional<Key> victim(const MayEvict& may) override {
    const Index i = order_.first(chunks_, may);
    return i == none ? std::nullopt : std::optional(chunks_[i].key);
  }
  void expect(std::span<const Key> chunks) override { chunks_.prefetch(chunks); }

  void resize(std::uint64_t capacity) override { capacity_ = capacity; }

 private:
  struct Node : Ranked {
    Node(Ranked ranked, Key k, std::uint64_t size, std::uint64_t n, bool written)
        : Ranked(ranked), key(k), bytes(size), uses(n), dirty(written) {}
    Key key;
    std::uint64_t bytes;
    std::uint64_t uses;
    bool dirty;
  };
  struct Rank {
    double priority;
    std::uint64_t tie;
    bool operator<(const Rank& other) const {
      return priority != other.priority ? priority < other.priority : tie < other.tie;
    }
  };

  Rank rank(const Node& node, double age) const {
    const double cost = rules_.fetch + (node.dirty ? rules_.write_back : 0);
    const double bytes = rules_.by_size ? static_cast<double>(node.bytes) : 1;
    return {age + static_cast<double>(node.uses) * (cost / bytes),
            rules_.bypass ? static_cast<std::uint64_t>(node.key) ^ sign : now_};
  }

  static constexpr std::uint64_t sign = std::uint64_t{1} << 63;

  const GreedyDualRules rules_;
  double age_ = 0;              // L
  std::optional<double> base_;  // L when the newcomer was admitted
  std::uint64_t now_ = 0;
  std::uint64_t capacity_ = ~std::uint64_t{0};
  std::uint64_t bytes_ = 0;  // resident
  Chunks<Node> chunks_;
  RankedOrder<Rank> order_;
};

}  // namespace holdall::policies
