// Aged access bits: the chunks stand in generations, a hit does no more than set the chunk's bit,
// and now and then a scan moves those with a bit to a new, youngest generation. The oldest
// generation goes first, in the order in which its chunks joined it; one whose bit is set when its
// turn comes joins the youngest instead. So the uses may come late, in batches and only in part, as
// from access counters that are sampled. After Linux's multi-generational LRU (Yu Zhao, merged in
// Linux 6.1, 2022; Documentation/mm/multigen_lru.rst), without its tiers and its page-table walks.
//   generations=N   at most; the two oldest become one for a new one (4)
//   every=N         uses from scan to scan, 0 for as many as chunks are resident (0)
// A scan is O(n), O(1) a use on average with every=0.
#include <algorithm>

#include "policies/built_in.hpp"
#include "policies/order.hpp"
#include "policies/slab.hpp"

namespace holdall::policies {

namespace {

class Mglru final : public Policy {
 public:
  Mglru(std::uint64_t generations, std::uint64_t every)
      : every_(every), generations_(generations) {}

  void inserted(Key chunk, const Request&) override {
    if (++uses_ >= (every_ != 0 ? every_ : chunks_.size() + 1)) scan();
    if (const Index i = chunks_.find(chunk); i != none)
      chunks_[i].used = true;
    else
      join(chunks_.add({{}, chunk, 0, false}), youngest_);
  }
  void accessed(Key chunk, const Request& request) override { inserted(chunk, request); }

  void removed(Key chunk, Left) override {
    const Index i = chunks_.find(chunk);
    if (i == none) return;
    generation(chunks_[i].generation).erase(chunks_, i);
    chunks_.drop(i);
  }

  std::optional<Key> victim(const MayEvict& may) override {
    for (;;) {
      const Index i = oldest(may);
      if (i == none) return std::nullopt;
      if (!chunks_[i].used) return chunks_[i].key;
      chunks_[i].used = false;
      generation(chunks_[i].generation).erase(chunks_, i);
      join(i, youngest_);
    }
  }
  void expect(std::span<const Key> chunks) override { chunks_.prefetch(chunks); }

 private:
  struct Node : Link {
    Node(Link link, Key k, std::uint64_t g, bool u) : Link(link), key(k), generation(g), used(u) {}
    Key key;
    std::uint64_t generation;  // its number; those below oldest_ have become oldest_
    bool used;
  };

  EvictionOrder& generation(std::uint64_t number) {
    return generations_[std::max(number, oldest_) % generations_.size()];
  }

  void join(Index i, std::uint64_t number) {
    chunks_[i].generation = number;
    generation(number).push_back(chunks_, i);
  }

  Index oldest(const MayEvict& may) {
    for (std::uint64_t g = oldest_; g <= youngest_; ++g)
      if (const Index i = generation(g).probable(chunks_, may); i != none) return i;
    for (std::uint64_t g = oldest_; g <= youngest_; ++g)
      if (const Index i = generation(g).remaining(chunks_, may); i != none) return i;
    return none;
  }

  void scan() {
    uses_ = 0;
    // 1. make a place for the new generation
    if (youngest_ - oldest_ + 1 == generations_.size()) {
      generation(oldest_).append(chunks_, generation(oldest_ + 1));
      std::swap(generation(oldest_), generation(oldest_ + 1));
      ++oldest_;
    }
    ++youngest_;
    // 2. move to it whatever was used, the oldest first
    for (std::uint64_t g = oldest_; g < youngest_; ++g)
      for (Index i = generation(g).front(), next; i != none; i = next) {
        next = chunks_[i].next;
        if (!chunks_[i].used) continue;
        chunks_[i].used = false;
        generation(g).erase(chunks_, i);
        join(i, youngest_);
      }
  }

  const std::uint64_t every_;
  std::uint64_t uses_ = 0;  // since the last scan
  std::uint64_t oldest_ = 0, youngest_ = 0;
  std::vector<EvictionOrder> generations_;  // by number, modulo their number
  Chunks<Node> chunks_;
};

}  // namespace

std::unique_ptr<Policy> make_mglru(Parameters& parameters) {
  return std::make_unique<Mglru>(parameters.count("generations", 4, 2, 64),
                                 parameters.count("every", 0, 0, ~std::uint64_t{0}));
}

}  // namespace holdall::policies
