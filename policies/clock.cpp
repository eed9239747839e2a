// CLOCK: the chunks stand in a circle, a hand goes round. A hit raises a chunk's count, the hand
// lowers the counts that it passes and takes the first chunk whose count is 0. With one bit this is
// second chance: Corbato, "A paging experiment with the Multics system", 1968.
//   bits=N                 width of the count, 1 to 8 (1)
//   variant=lcs|caffeine   a newcomer, with count 0, stands just behind the hand once that has gone
//                          to the victim (lcs), or where it was before it went; if it would come
//                          round to the newcomer again, that is not admitted (caffeine) (lcs)
// A chunk that may not be evicted is passed like any other, and keeps its place.
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "policies/built_in.hpp"
#include "policies/queues.hpp"
#include "policies/room.hpp"

namespace holdall::policies {

namespace {

class Clock final : public UsesKnown<Clock> {
 public:
  Clock(unsigned bits, bool newcomer_first)
      : most_((1u << bits) - 1), newcomer_first_(newcomer_first) {}

  bool admit(Key chunk, const Request&) override {
    chunks_.ask(chunk);
    if (!newcomer_first_) return true;
    seam_ = hand_;
    round_ = false;
    if (!room_.known() || size() < room_.chunks() || counted_ < size()) return true;
    lower_all(1);
    return false;
  }

  void removed(Key chunk, Left) override {
    const Index i = chunks_.find_offered(chunk);
    if (i == none) return;
    const Index next = size() == 1 ? none : after(i);
    if (i == hand_) {
      round_ = next == seam_;
      hand_ = next;
    }
    if (i == seam_) seam_ = next;
    if (counts_[i] > 0) --counted_;
    circle_.erase(chunks_, i);
    chunks_.drop(i);
  }

  // The hand stays on the victim: asked again, it gives the same answer.
  std::optional<Key> victim(const MayEvict& may) override {
    // 1. Find where the hand will stop: at the first of the least count, most often 0. Nothing
    // changes if nowhere.
    room_.pressed(size());
    Index stop = none;
    if (counted_ < size())
      for (Index i = hand_, left = size(); left > 0 && stop == none; i = after(i), --left)
        if (counts_[i] == 0 && may(chunks_[i].key)) stop = i;
    if (stop == none)
      for (Index i = hand_, left = size(); left > 0; i = after(i), --left)
        if ((stop == none || counts_[i] < counts_[stop]) && may(chunks_[i].key)) stop = i;
    if (stop == none) return std::nullopt;

    // 2. Go there: `rounds` full rounds, and the part of one up to the victim.
    if (const unsigned rounds = counts_[stop]; rounds > 0) lower_all(rounds);
    for (; hand_ != stop; hand_ = after(hand_)) lower(hand_, 1);
    return chunks_.offer(stop);
  }
  // A hit touches the count alone, and counts are small.
  void expect(std::span<const Key> chunks) override { chunks_.prefetch_places(chunks); }

  void resize(std::uint64_t capacity) override { room_.resize(capacity); }

 private:
  friend UsesKnown<Clock>;

  struct Node : Link {
    Key key;
  };

  void use(Key chunk, Index i, const Request& request) {
    if (i != none) {
      std::uint8_t& count = counts_.data()[i];
      counted_ += count == 0;
      count = static_cast<std::uint8_t>(std::min(count + 1u, most_));
      return;
    }
    room_.inserted(request.bytes, size() + 1);
    i = chunks_.add({{}, chunk});
    if (i >= counts_.size()) counts_.resize(i + i / 4 + 1);
    counts_[i] = 0;
    circle_.insert_before(chunks_, newcomer_first_ && seam_ != none ? seam_ : hand_, i);
    if (hand_ == none || (round_ && hand_ == seam_)) hand_ = i;
    seam_ = none;
    round_ = false;
  }

  Index size() const { return static_cast<Index>(chunks_.size()); }
  Index after(Index i) const { return chunks_[i].next == none ? circle_.front() : chunks_[i].next; }
  void lower(Index i, unsigned by) {
    if (counts_[i] == 0) return;
    counts_[i] = static_cast<std::uint8_t>(counts_[i] - std::min<unsigned>(counts_[i], by));
    if (counts_[i] == 0) --counted_;
  }
  void lower_all(unsigned by) {
    for (Index i = circle_.front(); i != none; i = chunks_[i].next) lower(i, by);
  }

  const unsigned most_;
  const bool newcomer_first_;
  Index counted_ = 0;  // chunks with a count above 0
  Room room_;
  Known<Node> chunks_;
  std::vector<std::uint8_t> counts_;  // by node, beside them, so that those of many stay at hand
  List circle_;                       // its end meets its front
  Index hand_ = none;                 // none if the circle is empty
  Index seam_ = none;   // where the hand was when the newcomer was asked for; none once it is in
  bool round_ = false;  // the hand came back to there since
};

}  // namespace

std::unique_ptr<Policy> make_clock(Parameters& parameters) {
  constexpr std::array<std::string_view, 2> variants = {"lcs", "caffeine"};
  const bool newcomer_first = parameters.choice("variant", "lcs", variants) == "caffeine";
  return std::make_unique<Clock>(static_cast<unsigned>(parameters.count("bits", 1, 1, 8)),
                                 newcomer_first);
}

}  // namespace holdall::policies
