// OPT, also MIN: evicts the chunk whose next use is farthest away: Belady, "A study of replacement
// algorithms for a virtual-storage computer", IBM Systems Journal 5(2), 1966; optimal where every
// request must be brought in: Mattson et al., "Evaluation techniques for storage hierarchies",
// 1970.
//   bypass=B   refuses to admit a chunk that is needed later than all that are resident (false):
//              then no policy at all has fewer misses, chunks of one size given
// The next use comes with each request, from a trace or from a declared schedule, and `hinted`
// corrects it. A use makes the chunk's earlier hint void; a prefetch does not. Chunks with no next
// use go first, the longest unused of them first: so with no knowledge at all this is LRU, and
// `bypass` refuses nothing. A hint for a chunk that is not resident is kept until its next use.
#include "policies/built_in.hpp"
#include "policies/order.hpp"
#include "policies/ranked.hpp"
#include "policies/slab.hpp"

namespace holdall::policies {

namespace {

class Opt final : public Policy {
 public:
  explicit Opt(bool bypass) : bypass_(bypass) {}

  bool admit(Key, const Request& request) override {
    learn(request.next_use);
    if (!bypass_ || !knows_ || bytes_ + request.bytes <= capacity_) return true;
    if (request.next_use == Request::never) return false;
    if (!useless_.empty() || needed_.top() == none) return true;
    return request.next_use < chunks_[needed_.top()].next_use;
  }

  void inserted(Key chunk, const Request& request) override {
    learn(request.next_use);
    std::uint64_t next_use = request.next_use;
    if (const Index i = chunks_.find(chunk); i != none) {
      if (request.prefetch && next_use == Request::never) next_use = chunks_[i].next_use;
      leave(i);
      enter(i, next_use);
      return;
    }
    if (const Index i = hints_.find(chunk); i != none) {
      if (request.prefetch && next_use == Request::never) next_use = hints_[i].next_use;
      hints_.drop(i);
    }
    bytes_ += request.bytes;
    enter(chunks_.add({{}, {}, chunk, request.bytes, 0}), next_use);
  }
  void accessed(Key chunk, const Request& request) override { inserted(chunk, request); }

  void removed(Key chunk, Left why) override {
    if (const Index i = hints_.find(chunk); i != none && why == Left::dropped) hints_.drop(i);
    const Index i = chunks_.find(chunk);
    if (i == none) return;
    leave(i);
    bytes_ -= chunks_[i].bytes;
    chunks_.drop(i);
  }

  std::optional<Key> victim(const MayEvict& may) override {
    if (const Index i = useless_.first(chunks_, may); i != none) return chunks_[i].key;
    const Index i = needed_.first(chunks_, may);
    return i == none ? std::nullopt : std::optional(chunks_[i].key);
  }
  void expect(std::span<const Key> chunks) override { chunks_.prefetch(chunks); }

  void hinted(Key chunk, std::uint64_t next_use) override {
    learn(next_use);
    if (const Index i = chunks_.find(chunk); i != none) {
      leave(i);
      enter(i, next_use);
      return;
    }
    const Index i = hints_.find(chunk);
    if (next_use == Request::never) {
      if (i != none) hints_.drop(i);
    } else if (i == none) {
      hints_.add({chunk, next_use});
    } else {
      hints_[i].next_use = next_use;
    }
  }

  void resize(std::uint64_t capacity) override { capacity_ = capacity; }

 private:
  struct Node : Link, Ranked {
    Node(Link link, Ranked ranked, Key k, std::uint64_t size, std::uint64_t next)
        : Link(link), Ranked(ranked), key(k), bytes(size), next_use(next) {}
    Key key;
    std::uint64_t bytes;
    std::uint64_t next_use;
  };
  struct Hint {
    Key key;
    std::uint64_t next_use;
  };
  struct Farthest {
    std::uint64_t next_use;
    bool operator<(const Farthest& other) const { return next_use > other.next_use; }
  };

  void learn(std::uint64_t next_use) { knows_ = knows_ || next_use != Request::never; }

  void enter(Index i, std::uint64_t next_use) {
    chunks_[i].next_use = next_use;
    if (next_use == Request::never)
      useless_.push_back(chunks_, i);
    else
      needed_.insert(chunks_, i, {next_use});
  }
  void leave(Index i) {
    if (chunks_[i].next_use == Request::never)
      useless_.erase(chunks_, i);
    else
      needed_.erase(chunks_, i);
  }

  const bool bypass_;
  bool knows_ = false;  // has been told a next use
  std::uint64_t capacity_ = Request::never;
  std::uint64_t bytes_ = 0;  // resident
  Chunks<Node> chunks_;
  Chunks<Hint> hints_;            // for chunks that are not resident
  EvictionOrder useless_;         // no next use; longest unused first
  RankedOrder<Farthest> needed_;  // the others
};

}  // namespace

std::unique_ptr<Policy> make_opt(Parameters& parameters) {
  return std::make_unique<Opt>(parameters.flag("bypass", false));
}

}  // namespace holdall::policies
