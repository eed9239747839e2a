// CAR: ARC with clocks for orders of last use, so that a hit only sets a bit. T1 and T2 are queues;
// a chunk at the front that was used since goes to the end of T2, one that was not is evicted and
// remembered in B1 or B2. Bansal and Modha, "CAR: clock with adaptive replacement", FAST 2004.
// No parameters; p, the length that T1 should have, moves by whole numbers.
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
  bool used;
};

class Car final : public Directory<Car, Node> {
 public:
  std::optional<Key> victim(const MayEvict& may) override {
    room_.pressed(residents());
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

 private:
  friend UsesKnown<Car>;

  void use(Key chunk, Index i, const Request& request) {
    if (i != none && resident(chunks_[i].where)) {
      chunks_[i].used = true;
      return;
    }
    room_.inserted(request.bytes, residents() + 1);
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

  std::size_t p_ = 0;  // the length that T1 should have
};

}  // namespace

std::unique_ptr<Policy> make_car(Parameters&) { return std::make_unique<Car>(); }

}  // namespace holdall::policies
