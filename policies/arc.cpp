// ARC: two orders of last use, T1 of chunks used once and T2 of those used more often, each with a
// memory of what it evicted (B1, B2). A request for a chunk that B1 remembers says that T1 was too
// short, one that B2 remembers that T2 was: `p`, the length that T1 should have, follows them.
// Megiddo and Modha, "ARC: a self-tuning, low overhead replacement cache", FAST 2003.
//   variant=real|integer   p and its steps are real numbers, or whole ones rounded down (real)
// T1 and B1 together know no more chunks than fit, all four no more than twice as many.
#include <algorithm>
#include <array>

#include "policies/built_in.hpp"
#include "policies/directory.hpp"

namespace holdall::policies {

namespace {

struct Node : Link {
  Key key;
  Where where;
  bool adapted;  // a ghost's return has moved p
};

class Arc final : public Directory<Arc, Node> {
 public:
  explicit Arc(bool whole) : whole_(whole) {}

  bool admit(Key chunk, const Request&) override {
    const Index i = chunks_.ask(chunk);
    for_frequent_ghost_ = i != none && chunks_[i].where == b2;
    if (i != none) adapt(i);
    return true;
  }

  std::optional<Key> victim(const MayEvict& may) override {
    room_.pressed(residents());
    const double once = static_cast<double>(resident_[t1].size());
    const Index i = once > p_ || (once == p_ && for_frequent_ghost_)
                        ? first_of(chunks_, may, resident_[t1], resident_[t2])
                        : first_of(chunks_, may, resident_[t2], resident_[t1]);
    return i == none ? std::nullopt : std::optional(chunks_.offer(i));
  }

 private:
  friend UsesKnown<Arc>;

  void use(Key chunk, Index i, const Request& request) {
    if (i != none && resident(chunks_[i].where)) {
      if (chunks_[i].where == t2) return resident_[t2].move_to_back(chunks_, i);
      resident_[t1].erase(chunks_, i);
      chunks_[i].where = t2;
      resident_[t2].push_back(chunks_, i);
      return;
    }
    room_.inserted(request.bytes, residents() + 1);
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

  const bool whole_;
  double p_ = 0;                     // the length that T1 should have
  bool for_frequent_ghost_ = false;  // the chunk that was asked for last is in B2
};

}  // namespace

std::unique_ptr<Policy> make_arc(Parameters& parameters) {
  constexpr std::array<std::string_view, 2> variants = {"real", "integer"};
  return std::make_unique<Arc>(parameters.choice("variant", "real", variants) == "integer");
}

}  // namespace holdall::policies
