// CLOCK-Pro: LIRS with clocks, so that a hit only sets a bit. Chunks are hot or cold; a newcomer is
// cold and in a test period, which it keeps when evicted; used again in that time it becomes hot,
// and the hot chunk that was longest not used becomes cold. Victims are cold. How many cold chunks
// there are follows the tests: one more for one that succeeds, one less for one that fails. Jiang,
// Chen and Zhang, "CLOCK-Pro: an effective improvement of the CLOCK replacement", USENIX ATC 2005.
//   least=F   share of cold chunks, at least, and at least 2 of them (0.01)
//   most=F    share of cold chunks, at most (0.99)
//   ghost=F   evicted chunks in test, at most, as a share of those that fit (2)
// The paper's one clock with three hands is here three queues and a number for when a chunk was put
// at the clock's head: whatever a hand looks for is put there last, so each hand stands at the
// front of its queue. A use that repeats the one before it counts for nothing. If no cold chunk may
// go, hot ones are asked in the order of a clock.
#include <algorithm>

#include "policies/built_in.hpp"
#include "policies/queues.hpp"
#include "policies/room.hpp"

namespace holdall::policies {

namespace {

class ClockPro final : public UsesKnown<ClockPro> {
 public:
  ClockPro(double least, double most, double ghost)
      : least_share_(least), most_share_(most), ghost_share_(ghost) {}

  void removed(Key chunk, Left why) override {
    const Index i = chunks_.find_offered(chunk);
    if (i == none) return;
    Node& node = chunks_[i];
    if (node.state == State::gone && why == Left::evicted) return;
    if (node.state == State::cold && node.in_test && why == Left::evicted) {
      cold_.erase(chunks_, i);
      node.state = State::gone;
      ++gone_;
      const auto most =
          static_cast<std::size_t>(static_cast<double>(room_.chunks()) * ghost_share_);
      while (gone_ > most) end_test(test_.front());
      return;
    }
    leave(i);
    chunks_.drop(i);
  }

  std::optional<Key> victim(const MayEvict& may) override {
    room_.pressed(hot_.size() + cold_.size());
    full_ = true;
    for (;;) {
      const Index i = first_of(chunks_, may, cold_, hot_);
      if (i == none) return std::nullopt;
      Node& node = chunks_[i];
      if (!node.used) return chunks_.offer(i);
      if (node.state == State::hot || (node.in_test && promotable(i)))
        to_head(i, State::hot, false);
      else
        to_head(i, State::cold, true);
    }
  }

  void resize(std::uint64_t capacity) override {
    room_.resize(capacity);
    full_ = false;
  }

 private:
  friend UsesKnown<ClockPro>;

  enum class State : std::uint8_t { hot, cold, gone };
  struct Node : Link {  // its place in hot_ or cold_
    Key key;
    Link test;             // its place in test_
    std::uint64_t placed;  // when it was put at the clock's head
    State state;
    bool in_test;
    bool used;
  };
  struct Tested {  // the chunks by their place in test_
    Known<Node>& chunks;
    Link& operator[](Index i) const { return chunks[i].test; }
  };

  std::size_t least_cold() const {
    const std::size_t fit = room_.chunks();
    const auto share = static_cast<std::size_t>(static_cast<double>(fit) * least_share_);
    return std::min(std::max<std::size_t>(2, share), std::max<std::size_t>(1, fit / 2));
  }
  std::size_t most_cold() const {
    const std::size_t fit = room_.chunks(), least = least_cold();
    const auto share = static_cast<std::size_t>(static_cast<double>(fit) * most_share_);
    return std::max(least, std::min(fit - std::min(fit, least), share));
  }
  void move_target(bool up) {
    if (!up && target_ > 0) --target_;
    if (up) ++target_;
    target_ = std::clamp(target_, least_cold(), most_cold());
  }

  void use(Key chunk, Index i, const Request& request) {
    const bool repeats = any_ && chunk == last_;
    any_ = true;
    last_ = chunk;
    if (i != none && chunks_[i].state != State::gone) {
      if (!repeats) chunks_[i].used = true;
      return;
    }
    const std::size_t resident = hot_.size() + cold_.size();
    room_.inserted(request.bytes, resident + 1);
    target_ = std::clamp(target_, least_cold(), most_cold());
    if (i == none) {
      const bool hot = !full_ && resident + least_cold() < room_.chunks();
      i = chunks_.add({{}, chunk, {}, 0, State::gone, false, false});
      ++gone_;
      to_head(i, hot ? State::hot : State::cold, !hot);
    } else if (coming_ = i; promotable(i)) {
      to_head(i, State::hot, false);
    } else {
      to_head(i, State::cold, true);
    }
    coming_ = none;
    pass_cold();
  }

  // A cold chunk was used in its test period: is there room for it among the hot?
  bool promotable(Index i) {
    move_target(true);
    chunks_[i].used = false;
    while (hot_.size() + target_ >= room_.chunks())
      if (!chunks_[i].in_test || !cool(i)) return false;
    return true;
  }
  // Makes the first unused one of the hot chunks cold that were placed before chunk i, if there is.
  bool cool(Index i) {
    const std::uint64_t until = chunks_[i].placed;
    bool cooled = false;
    for (Index h; !cooled && (h = hot_.front()) != none && chunks_[h].placed < until;) {
      cooled = !chunks_[h].used;
      to_head(h, cooled ? State::cold : State::hot, false);
    }
    pass_cold();
    return cooled;
  }
  // Ends the tests of all that were placed before the first hot chunk.
  void pass_cold() {
    if (hot_.empty()) return;
    const std::uint64_t until = chunks_[hot_.front()].placed;
    while (!test_.empty() && chunks_[test_.front()].placed < until) end_test(test_.front());
  }
  void end_test(Index i) {
    const bool used = chunks_[i].used;
    if (chunks_[i].state == State::gone && i != coming_) {
      leave(i);
      chunks_.drop(i);
    } else {
      chunks_[i].in_test = false;
      test_.erase(tested_, i);
    }
    move_target(used);
  }

  void leave(Index i) {
    Node& node = chunks_[i];
    if (node.in_test) test_.erase(tested_, i);
    node.in_test = false;
    if (node.state == State::gone) --gone_;
    if (node.state == State::hot) hot_.erase(chunks_, i);
    if (node.state == State::cold) cold_.erase(chunks_, i);
  }
  void to_head(Index i, State state, bool in_test) {
    leave(i);
    Node& node = chunks_[i];
    node.placed = ++placed_;
    node.state = state;
    node.in_test = in_test;
    node.used = false;
    (state == State::hot ? hot_ : cold_).push_back(chunks_, i);
    if (in_test) test_.push_back(tested_, i);
  }

  const double least_share_, most_share_, ghost_share_;
  std::size_t target_ = 0;    // of cold chunks
  std::size_t gone_ = 0;      // evicted chunks that are known
  std::uint64_t placed_ = 0;  // chunks put at the head
  bool full_ = false;         // a victim was wanted
  bool any_ = false;          // last_ holds
  Key last_{};                // used last
  Index coming_ = none;       // the evicted chunk that is coming in
  Room room_;
  Known<Node> chunks_;
  Tested tested_{chunks_};
  Queue hot_, cold_;  // resident, first placed first
  Sized<List> test_;  // cold ones in test, first placed first
};

}  // namespace

std::unique_ptr<Policy> make_clockpro(Parameters& parameters) {
  const double least = parameters.number("least", 0.01, 0, 1);
  const double most = parameters.number("most", 0.99, 0, 1);
  const double ghost = parameters.number("ghost", 2, 0, 100);
  return std::make_unique<ClockPro>(least, most, ghost);
}

}  // namespace holdall::policies
