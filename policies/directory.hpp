// What ARC and CAR keep: T1 of resident chunks used once and T2 of those used more often, each with
// a memory of what it evicted, B1 and B2.
#pragma once

#include <array>

#include "policies/queues.hpp"
#include "policies/room.hpp"

namespace holdall::policies {

enum Where : std::uint8_t { t1, t2, b1, b2 };  // where a chunk that is known stands

// A Node has a member `where`.
template <class Self, class Node>
class Directory : public UsesKnown<Self> {
 public:
  void removed(Key chunk, Left why) final {
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
  void resize(std::uint64_t capacity) final { room_.resize(capacity); }

 protected:
  static bool resident(Where where) { return where <= t2; }
  std::size_t residents() const { return resident_[t1].size() + resident_[t2].size(); }

  // T1 and B1 together know no more chunks than fit, all four no more than twice as many.
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

  Room room_;
  Known<Node> chunks_;
  std::array<Queue, 2> resident_;  // T1, T2: first the next to be evicted
  std::array<Ghosts, 2> ghosts_;   // B1, B2
};

}  // namespace holdall::policies
