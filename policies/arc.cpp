// ARC: two orders of last use, T1 of chunks used once and T2 of those used more often, each with a
// memory of what it evicted (B1, B2). A request for a chunk that B1 remembers says that T1 was too
// short, one that B2 remembers that T2 was: `p`, the length that T1 should have, follows them.
// Megiddo and Modha, "ARC: a self-tuning, low overhead replacement cache", FAST 2003.
//   variant=real|integer   p and its steps are real numbers, or whole ones rounded down (real)
// T1 and B1 together know no more chunks than fit, all four no more than twice as many.
#include <algorithm>
#include <array>

#include "policies/built_in.hpp"
#include "policies/queues.hpp"
#include "policies/room.hpp"

namespace holdall::policies {

namespace {

class Arc final : public Policy {
 public:
  explicit Arc(bool whole) : whole_(whole) {}

  bool admit(Key chunk, const Request&) override {
    const Index i = chunks_.ask(chunk);
    for_frequent_ghost_ = i != none && chunks_[i].where == b2;
    if (i != none) adapt(i);
    return true;
  }
  void inserted(Key chunk, const Request& request) override {
    use(chunk, chunks_.find_asked(chunk), request);
  }
  void accessed(Key chunk, const Request& request) override {
    use(chunk, chunks_.find(chunk), request);
  }

  void removed(Key chunk, Left why) override {
    const Index i = chunks_.find_offered(chunk);
    if (i == none) return;
    const Where where = chunks_[i].where;
    if (!resident(where)) {
      if (why == Left::dropped) forget(i);
      return;
    }
    resident_[where].erase(chunks_, i);
    if (why == Left::dropped) return chunks_.drop(i);
    chunks_[i].where = where == t1 ? b1 : b2;
    ghosts_[where].push_back(chunks_, i);
  }

  std::optional<Key> victim(const MayEvict& may) override {
    room_.pressed(resident_[t1].size() + resident_[t2].size());
    const double once = static_cast<double>(resident_[t1].size());
    const Index i = once > p_ || (once == p_ && for_frequent_ghost_)
                        ? first_of(chunks_, may, resident_[t1], resident_[t2])
                        : first_of(chunks_, may, resident_[t2], resident_[t1]);
    return i == none ? std::nullopt : std::optional(chunks_.offer(i));
  }

  void resize(std::uint64_t capacity) override { room_.resize(capacity); }

 private:
  enum Where : std::uint8_t { t1, t2, b1, b2 };
  struct Node : Link {
    Key key;
    Where where;
    bool adapted;  // a ghost's return has moved p
  };

  static bool resident(Where where) { return where <= t2; }

  void use(Key chunk, Index i, const Request& request) {
    if (i != none && resident(chunks_[i].where)) {
      if (chunks_[i].where == t2) return resident_[t2].move_to_back(chunks_, i);
      resident_[t1].erase(chunks_, i);
      chunks_[i].where = t2;
      resident_[t2].push_back(chunks_, i);
      return;
    }
    room_.inserted(request.bytes, resident_[t1].size() + resident_[t2].size() + 1);
    if (i == none) {
      resident_[t1].push_back(chunks_, chunks_.add({{}, chunk, t1, false}));
    } else {
      adapt(i);
      ghosts_[chunks_[i].where - b1].erase(chunks_, i);
      chunks_[i].where = t2;
      chunks_[i].adapted = false;
      resident_[t2].push_back(chunks_, i);
    }
    for_frequent_ghost_ = false;
    trim();
  }

  // Chunk i is asked for again.
  void adapt(Index i) {
    Node& node = chunks_[i];
    if (resident(node.where) || node.adapted) return;
    node.adapted = true;
    const double once = static_cast<double>(ghosts_[0].size());
    const double more = static_cast<double>(ghosts_[1].size());
    p_ = node.where == b1 ? std::min(p_ + step(more / once), static_cast<double>(room_.chunks()))
                          : std::max(p_ - step(once / more), 0.0);
  }
  double step(double ratio) const {
    return std::max(1.0, whole_ ? static_cast<double>(static_cast<std::uint64_t>(ratio)) : ratio);
  }

  void trim() {
    const std::size_t fit = room_.chunks();
    const auto once = [&] { return resident_[t1].size() + ghosts_[0].size(); };
    const auto more = [&] { return resident_[t2].size() + ghosts_[1].size(); };
    while (once() > fit && !ghosts_[0].empty()) forget(ghosts_[0].front());
    while (once() + more() > 2 * fit && !ghosts_[1].empty()) forget(ghosts_[1].front());
  }
  void forget(Index ghost) {
    ghosts_[chunks_[ghost].where - b1].erase(chunks_, ghost);
    chunks_.drop(ghost);
  }

  const bool whole_;
  double p_ = 0;                     // the length that T1 should have
  bool for_frequent_ghost_ = false;  // the chunk that was asked for last is in B2
  Room room_;
  Known<Node> chunks_;
  std::array<Queue, 2> resident_;  // T1, T2: least recently used first
  std::array<Ghosts, 2> ghosts_;   // B1, B2
};

}  // namespace

std::unique_ptr<Policy> make_arc(Parameters& parameters) {
  constexpr std::array<std::string_view, 2> variants = {"real", "integer"};
  return std::make_unique<Arc>(parameters.choice("variant", "real", variants) == "integer");
}

}  // namespace holdall::policies
