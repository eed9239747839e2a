// LIRS: a chunk is worth keeping if the time between its last two uses (its inter-reference
// recency) is short. Most of the memory holds chunks for which it is (LIR); the others (HIR) stay
// in a short queue Q, from which victims come. A stack S keeps the order of last use, with chunks
// already evicted, as far down as the last LIR chunk: a HIR chunk used while in S has the shorter
// time, takes the place of the LIR chunk at the bottom, and that one goes to the end of Q. Jiang
// and Zhang, "LIRS: an efficient low inter-reference recency set replacement policy", SIGMETRICS
// 2002.
//   hir=F                  share of the HIR chunks, one at least (0.01)
//   variant=lcs|caffeine   S has at most twice as many chunks as fit (lcs), or S has at most twice
//                          as many evicted chunks as fit, and a HIR chunk used twice in a row keeps
//                          its state (caffeine) (lcs)
// The bound, which the paper leaves open, takes out the chunk that was evicted first. If no HIR
// chunk may go, LIR chunks are asked in the order of a clock. Good at sweeps: the LIR chunks stay.
#include <algorithm>
#include <array>

#include "policies/built_in.hpp"
#include "policies/queues.hpp"
#include "policies/room.hpp"

namespace holdall::policies {

namespace {

class Lirs final : public UsesKnown<Lirs> {
 public:
  Lirs(double hir, bool caffeine) : hir_(hir), caffeine_(caffeine) {}

  void removed(Key chunk, Left why) override {
    const Index i = chunks_.find_offered(chunk);
    if (i == none || (chunks_[i].state == State::gone && why == Left::evicted)) return;
    leave_queue(i);
    if (why == Left::evicted && chunks_[i].stacked) {
      chunks_[i].state = State::gone;
      gone_.push_back(chunks_, i);
    } else {
      if (chunks_[i].stacked) unstack(i);
      chunks_.drop(i);
    }
    prune();
  }

  std::optional<Key> victim(const MayEvict& may) override {
    room_.pressed(lir_.size() + hir_resident_.size());
    balance();
    for (;;) {
      const Index i = first_of(chunks_, may, hir_resident_, lir_);
      if (i == none) return std::nullopt;
      if (chunks_[i].state != State::lir || !chunks_[i].used) return chunks_.offer(i);
      chunks_[i].used = false;
      lir_.move_to_back(chunks_, i);
    }
  }

  void resize(std::uint64_t capacity) override {
    room_.resize(capacity);
    balance();
  }

 private:
  friend UsesKnown<Lirs>;

  enum class State : std::uint8_t { lir, hir, gone };
  struct Node : Link {  // its place in the queue of its state
    Key key;
    Link in_stack;
    State state;
    bool stacked;
    bool used;  // a LIR chunk, since it was asked for as a victim
  };
  struct Stacked {  // the chunks by their place in S
    Known<Node>& chunks;
    Link& operator[](Index i) const { return chunks[i].in_stack; }
  };

  // How many LIR chunks there may be.
  std::size_t most_lir() const {
    const double fit = static_cast<double>(room_.chunks());
    if (caffeine_) return std::min(room_.chunks() - 1, static_cast<std::size_t>(fit * (1 - hir_)));
    return room_.chunks() - std::min(room_.chunks(), room_.part(hir_));
  }

  void use(Key chunk, Index i, const Request& request) {
    if (i != none && chunks_[i].state == State::lir) return hit_lir(i);
    if (i != none && chunks_[i].state == State::hir) return hit_hir(i);
    room_.inserted(request.bytes, lir_.size() + hir_resident_.size() + 1);
    if (i == none)
      i = chunks_.add({{}, chunk, {}, State::gone, false, false});
    else
      gone_.erase(chunks_, i);
    const bool recent = chunks_[i].stacked;
    stack(i);
    if (recent || lir_.size() < most_lir())
      become_lir(i);
    else
      become_hir(i);
    balance();
    limit();
  }

  void hit_lir(Index i) {
    chunks_[i].used = true;
    const bool bottom = stack_.front() == i;
    stack_.move_to_back(stacked_, i);
    if (bottom) prune();
  }

  void hit_hir(Index i) {
    const bool recent = chunks_[i].stacked && !(caffeine_ && stack_.back() == i);
    stack(i);
    hir_resident_.erase(chunks_, i);
    if (recent) {
      become_lir(i);
      balance();
    } else {
      become_hir(i);
      prune();
    }
    limit();
  }

  void become_lir(Index i) {
    chunks_[i].state = State::lir;
    chunks_[i].used = false;
    lir_.push_back(chunks_, i);
  }
  void become_hir(Index i) {
    chunks_[i].state = State::hir;
    hir_resident_.push_back(chunks_, i);
  }
  void leave_queue(Index i) {
    switch (chunks_[i].state) {
      case State::lir:
        return lir_.erase(chunks_, i);
      case State::hir:
        return hir_resident_.erase(chunks_, i);
      case State::gone:
        return gone_.erase(chunks_, i);
    }
  }

  void stack(Index i) {  // on top
    if (chunks_[i].stacked) return stack_.move_to_back(stacked_, i);
    chunks_[i].stacked = true;
    stack_.push_back(stacked_, i);
  }
  void unstack(Index i) {
    chunks_[i].stacked = false;
    stack_.erase(stacked_, i);
  }

  // Takes LIR chunks from the bottom of S until there are not too many.
  void balance() {
    for (const std::size_t most = most_lir(); lir_.size() > most;) {
      prune();
      const Index bottom = stack_.front();
      unstack(bottom);
      lir_.erase(chunks_, bottom);
      become_hir(bottom);
    }
    prune();
  }
  // Leaves a LIR chunk at the bottom of S.
  void prune() {
    for (Index i; (i = stack_.front()) != none && chunks_[i].state != State::lir;) {
      unstack(i);
      if (chunks_[i].state == State::gone) forget(i);
    }
  }
  void limit() {
    const std::size_t most = 2 * room_.chunks();
    while (!gone_.empty() && (caffeine_ ? gone_.size() : stack_.size()) > most) {
      const Index first = gone_.front();
      unstack(first);
      forget(first);
    }
  }
  void forget(Index i) {
    gone_.erase(chunks_, i);
    chunks_.drop(i);
  }

  const double hir_;
  const bool caffeine_;
  Room room_;
  Known<Node> chunks_;
  Stacked stacked_{chunks_};
  Sized<List> stack_;   // S: least recently used first
  Queue hir_resident_;  // Q: its end last
  Queue lir_;
  Ghosts gone_;  // evicted, and in S
};

}  // namespace

std::unique_ptr<Policy> make_lirs(Parameters& parameters) {
  constexpr std::array<std::string_view, 2> variants = {"lcs", "caffeine"};
  const double hir = parameters.number("hir", 0.01, 0, 1);
  return std::make_unique<Lirs>(hir, parameters.choice("variant", "lcs", variants) == "caffeine");
}

}  // namespace holdall::policies
