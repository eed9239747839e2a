// SIEVE: chunks stand in the order in which they came. A hit marks a chunk and moves nothing; a
// hand goes from the oldest to the newest and round again, takes marks away and evicts the first
// chunk without one, and waits where it stopped. Zhang, Yang, Yue, Vigfusson and Rashmi, "SIEVE is
// simpler than LRU", NSDI 2024. No parameters. What was used once leaves soon, what is used again
// survives a whole round. A chunk that may not be evicted is passed and keeps its place.
#include "policies/built_in.hpp"
#include "policies/queues.hpp"

namespace holdall::policies {

namespace {

class Sieve final : public UsesKnown<Sieve> {
 public:
  void removed(Key chunk, Left) override {
    const Index i = chunks_.find_offered(chunk);
    if (i == none) return;
    if (i == hand_) hand_ = chunks_[i].next;
    order_.erase(chunks_, i);
    chunks_.drop(i);
  }

  // The hand stays on the victim: asked again, it gives the same answer.
  std::optional<Key> victim(const MayEvict& may) override {
    // 1. Find where the hand will stop. Nothing changes if nowhere.
    const Index start = hand_ == none ? order_.front() : hand_;
    std::size_t steps = 0;
    Index stop = start;
    for (; steps < order_.size(); ++steps, stop = after(stop))
      if (!chunks_[stop].marked && may(chunks_[stop].key)) break;
    if (steps == order_.size()) {  // all marks have gone
      for (std::size_t left = steps; left > 0 && !may(chunks_[stop].key); stop = after(stop))
        if (--left == 0) return std::nullopt;
      if (stop == none) return std::nullopt;
    }

    // 2. Go there.
    for (Index i = start; steps > 0; i = after(i), --steps) chunks_[i].marked = false;
    hand_ = stop;
    return chunks_.offer(stop);
  }
  void expect(std::span<const Key> chunks) override { chunks_.prefetch(chunks); }

 private:
  friend UsesKnown<Sieve>;

  struct Node : Link {
    Key key;
    bool marked;
  };

  void use(Key chunk, Index i, const Request&) {
    if (i != none)
      chunks_[i].marked = true;
    else
      order_.push_back(chunks_, chunks_.add({{}, chunk, false}));
  }
  Index after(Index i) const { return chunks_[i].next == none ? order_.front() : chunks_[i].next; }

  Known<Node> chunks_;
  Sized<List> order_;  // oldest first
  Index hand_ = none;  // none to start from the oldest
};

}  // namespace

std::unique_ptr<Policy> make_sieve(Parameters&) { return std::make_unique<Sieve>(); }

}  // namespace holdall::policies
