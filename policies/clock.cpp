// CLOCK: the chunks stand in a circle, a hand goes round. A hit raises a chunk's count, the hand
// lowers the counts that it passes and takes the first chunk whose count is 0. With one bit this is
// second chance: Corbato, "A paging experiment with the Multics system", 1968.
//   bits=N   width of the count, 1 to 8 (1)
// Newcomers have count 0 and stand just behind the hand. A chunk that may not be evicted is passed
// like any other, and keeps its place.
#include <algorithm>

#include "policies/built_in.hpp"
#include "policies/list.hpp"
#include "policies/slab.hpp"

namespace holdall::policies {

namespace {

class Clock final : public Policy {
 public:
  explicit Clock(unsigned bits) : most_((1u << bits) - 1) {}

  void inserted(Key chunk, const Request&) override {
    if (const Index i = chunks_.find(chunk); i != none) {
      if (chunks_[i].count < most_) ++chunks_[i].count;
      return;
    }
    const Index i = chunks_.add({{}, chunk, 0});
    circle_.insert_before(chunks_, hand_, i);
    if (hand_ == none) hand_ = i;
  }
  void accessed(Key chunk, const Request& request) override { inserted(chunk, request); }

  void removed(Key chunk, Left) override {
    const Index i = chunks_.find(chunk);
    if (i == none) return;
    if (i == hand_) hand_ = chunks_.size() == 1 ? none : after(i);
    circle_.erase(chunks_, i);
    chunks_.drop(i);
  }

  // The hand stays on the victim: asked again, it gives the same answer.
  std::optional<Key> victim(const MayEvict& may) override {
    // 1. Find where the hand will stop: at the first of the least count. Nothing changes if
    // nowhere.
    Index stop = none;
    for (Index i = hand_, left = size(); left > 0; i = after(i), --left) {
      if ((stop == none || chunks_[i].count < chunks_[stop].count) && may(chunks_[i].key)) stop = i;
      if (stop != none && chunks_[stop].count == 0) break;
    }
    if (stop == none) return std::nullopt;

    // 2. Go there: `rounds` full rounds, and the part of one up to the victim.
    if (const unsigned rounds = chunks_[stop].count; rounds > 0)
      for (Index i = circle_.front(); i != none; i = chunks_[i].next) lower(i, rounds);
    for (; hand_ != stop; hand_ = after(hand_)) lower(hand_, 1);
    return chunks_[stop].key;
  }

 private:
  struct Node : Link {
    Key key;
    unsigned count;
  };

  Index size() const { return static_cast<Index>(chunks_.size()); }
  Index after(Index i) const { return chunks_[i].next == none ? circle_.front() : chunks_[i].next; }
  void lower(Index i, unsigned by) { chunks_[i].count -= std::min(chunks_[i].count, by); }

  const unsigned most_;
  Chunks<Node> chunks_;
  List circle_;        // its end meets its front
  Index hand_ = none;  // none if the circle is empty
};

}  // namespace

std::unique_ptr<Policy> make_clock(Parameters& parameters) {
  return std::make_unique<Clock>(static_cast<unsigned>(parameters.count("bits", 1, 1, 8)));
}

}  // namespace holdall::policies
