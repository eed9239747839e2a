// CAR: ARC with clocks for orders of last use, so that a hit only sets a bit. T1 and T2 are queues;
// a chunk at the front that was used since goes to the end of T2, one that was not is evicted and
// remembered in B1 or B2. Bansal and Modha, "CAR: clock with adaptive replacement", FAST 2004.
// No parameters; p, the length that T1 should have, moves by whole numbers.
// T1 and B1 together know no more chunks than fit, all four no more than twice as many.
#include <algorithm>
#include <array>

#include "policies/built_in.hpp"
#include "policies/queues.hpp"
#include "policies/room.hpp"

namespace holdall::policies {

namespace {

class Car final : public Policy {
 public:
  bool admit(Key chunk, const Request&) override {
    chunks_.ask(chunk);
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
    for (;;) {
      const bool once = resident_[t1].size() >= std::max<std::size_t>(1, p_);
      const Index i = first_of(chunks_, may, resident_[once ? t1 : t2], resident_[once ? t2 : t1]);
      if (i == none) return std::nullopt;
      Node& node = chunks_[i];
      if (!node.used) return chunks_.offer(i);
      resident_[node.where].erase(chunks_, i);
      node.where = t2;
      node.used = false;
      resident_[t2].push_back(chunks_, i);
    }
  }

  void resize(std::uint64_t capacity) override { room_.resize(capacity); }

 private:
  enum Where : std::uint8_t { t1, t2, b1, b2 };
  struct Node : Link {
    Key key;
    Where where;
    bool used;
  };

  static bool resident(Where where) { return where <= t2; }

  void use(Key chunk, Index i, const Request& request) {
    if (i != none && resident(chunks_[i].where)) {
      chunks_[i].used = true;
      return;
    }
    room_.inserted(request.bytes, resident_[t1].size() + resident_[t2].size() + 1);
    if (i == none) {
      resident_[t1].push_back(chunks_, chunks_.add({{}, chunk, t1, false}));
    } else {
      const std::size_t once = ghosts_[0].size(), more = ghosts_[1].size();
      if (chunks_[i].where == b1)
        p_ = std::min(p_ + std::max<std::size_t>(1, more / once), room_.chunks());
      else
        p_ -= std::min(p_, std::max<std::size_t>(1, once / more));
      ghosts_[chunks_[i].where - b1].erase(chunks_, i);
      chunks_[i].where = t2;
      chunks_[i].used = false;
      resident_[t2].push_back(chunks_, i);
    }
    trim();
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

  std::size_t p_ = 0;  // the length that T1 should have
  Room room_;
  Known<Node> chunks_;
  std::array<Queue, 2> resident_;  // T1, T2
  std::array<Ghosts, 2> ghosts_;   // B1, B2
};

}  // namespace

std::unique_ptr<Policy> make_car(Parameters&) { return std::make_unique<Car>(); }

}  // namespace holdall::policies
