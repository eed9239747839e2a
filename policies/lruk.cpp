// LRU-K: evicts the chunk whose K-th last use is longest ago; those used less than K times go
// first, in order of last use. O'Neil, O'Neil and Weikum, "The LRU-K page replacement algorithm for
// database disk buffering", SIGMOD 1993.
//   k=N            uses looked back on, 1 to 16 (2); 1 is LRU
//   correlated=N   uses of a chunk within N requests of its last count as one, and it is not
//                  evicted so soon if another may go; the order is exact up to 64 (0)
//   retained=N     requests for which the uses of an evicted chunk are remembered after its last
//                  (8 times the chunks that fit); with 0 this is webcachesim's LRU-K
// A step takes O(log n).
#include <algorithm>
#include <vector>

#include "policies/built_in.hpp"
#include "policies/queues.hpp"
#include "policies/ranked.hpp"
#include "policies/room.hpp"

namespace holdall::policies {

namespace {

class LruK final : public UsesKnown<LruK> {
 public:
  struct Options {
    std::size_t k;
    std::uint64_t correlated;
    std::uint64_t retained;  // requests; `by_room` for so many times the chunks that fit
  };
  static constexpr std::uint64_t by_room = ~std::uint64_t{0};

  explicit LruK(const Options& options) : options_(options) {}

  void removed(Key chunk, Left why) override {
    const Index i = chunks_.find_offered(chunk);
    if (i == none || (chunks_[i].gone && why == Left::evicted)) return;
    if (chunks_[i].gone) return forget(i);
    order_.erase(chunks_, i);
    --resident_;
    if (why == Left::dropped || options_.retained == 0) return chunks_.drop(i);
    chunks_[i].gone = true;
    gone_.push_back(chunks_, i);
  }

  std::optional<Key> victim(const MayEvict& may) override {
    room_.pressed(resident_);
    Index i = none;
    if (options_.correlated > 0)
      i = order_.first(chunks_, [&](Key key) {
        return now_ + 1 - chunks_[chunks_.find(key)].last > options_.correlated && may(key);
      });
    if (i == none) i = order_.first(chunks_, may);
    return i == none ? std::nullopt : std::optional(chunks_.offer(i));
  }

  void resize(std::uint64_t capacity) override { room_.resize(capacity); }

 private:
  friend UsesKnown<LruK>;

  struct Node : Link, Ranked {
    Key key;
    std::uint64_t last;  // when it was used last, correlated or not
    bool gone;           // evicted
  };
  struct Rank {
    std::uint64_t kth, latest;  // when it was used K times ago, 0 for never; and last
    bool operator<(const Rank& other) const {
      return kth != other.kth ? kth < other.kth : latest < other.latest;
    }
  };

  std::uint64_t* uses(Index i) { return &uses_[i * options_.k]; }  // the latest first
  Rank rank(Index i) { return {uses(i)[options_.k - 1], uses(i)[0]}; }

  void use(Key chunk, Index i, const Request& request) {
    ++now_;
    if (i != none && !chunks_[i].gone) return hit(i);
    room_.inserted(request.bytes, ++resident_);
    if (i != none && !retained(i)) {
      forget(i);
      i = none;
    }
    if (i == none) {
      i = chunks_.add({{}, {}, chunk, 0, false});
      if (uses_.size() < (i + 1) * options_.k) uses_.resize((i + 1) * options_.k);
      std::fill_n(uses(i), options_.k, 0);
    } else {
      gone_.erase(chunks_, i);
      chunks_[i].gone = false;
    }
    push(i, 0);
    order_.insert(chunks_, i, rank(i));
    while (!gone_.empty() && !retained(gone_.front())) forget(gone_.front());
  }

  void hit(Index i) {
    Node& node = chunks_[i];
    if (now_ - node.last <= options_.correlated) {
      node.last = now_;
      return;
    }
    push(i, node.last - uses(i)[0]);
    order_.update(chunks_, i, rank(i));
  }

  // Adds a use. The one before it went on for `period`: the earlier ones move up by that.
  void push(Index i, std::uint64_t period) {
    std::uint64_t* const u = uses(i);
    for (std::size_t n = options_.k - 1; n > 0; --n) u[n] = u[n - 1] == 0 ? 0 : u[n - 1] + period;
    u[0] = chunks_[i].last = now_;
  }

  bool retained(Index i) const {
    const std::uint64_t period =
        options_.retained == by_room ? 8 * room_.chunks() : options_.retained;
    return now_ - chunks_[i].last <= period;
  }
  void forget(Index i) {
    gone_.erase(chunks_, i);
    chunks_.drop(i);
  }

  const Options options_;
  std::uint64_t now_ = 0;  // requests
  std::size_t resident_ = 0;
  Room room_;
  Known<Node> chunks_;
  std::vector<std::uint64_t> uses_;  // K for each node
  RankedOrder<Rank> order_;
  Ghosts gone_;
};

}  // namespace

std::unique_ptr<Policy> make_lruk(Parameters& parameters) {
  LruK::Options options{};
  options.k = parameters.count("k", 2, 1, 16);
  options.correlated = parameters.count("correlated", 0, 0, 1ull << 40);
  options.retained = parameters.count("retained", LruK::by_room, 0, LruK::by_room);
  return std::make_unique<LruK>(options);
}

}  // namespace holdall::policies
