// LFU: evicts the chunk with the fewest uses since it came in, the one longest unused among equals.
// Counts are kept in buckets, so that every step is O(1): Shah, Mitra and Matani, "An O(1)
// algorithm for implementing the LFU cache eviction scheme", 2010.
//   halflife=N   all counts are halved every N uses, 0 for never (0)
// Without ageing, what was once hot stays for good; ageing by halving: Robinson and Devarakonda,
// "Data cache management using frequency-based replacement", SIGMETRICS 1990. The halving is O(n),
// O(1) a use on average.
#include "policies/built_in.hpp"
#include "policies/list.hpp"
#include "policies/order.hpp"
#include "policies/slab.hpp"

namespace holdall::policies {

namespace {

class Lfu final : public Policy {
 public:
  explicit Lfu(std::uint64_t halflife) : halflife_(halflife), until_halved_(halflife) {}

  void inserted(Key chunk, const Request&) override {
    if (halflife_ != 0 && until_halved_-- == 0) halve();
    const Index i = chunks_.find(chunk);
    if (i == none)
      enter(chunks_.add({{}, chunk, none}), buckets_.front(), 1);
    else
      raise(i);
  }
  void accessed(Key chunk, const Request& request) override { inserted(chunk, request); }

  void removed(Key chunk, Left) override {
    const Index i = chunks_.find(chunk);
    if (i == none) return;
    leave(i);
    chunks_.drop(i);
  }

  std::optional<Key> victim(const MayEvict& may) override {
    for (Index b = buckets_.front(); b != none; b = bucket_[b].next)
      if (const Index i = bucket_[b].chunks.probable(chunks_, may); i != none)
        return chunks_[i].key;
    for (Index b = buckets_.front(); b != none; b = bucket_[b].next)
      if (const Index i = bucket_[b].chunks.remaining(chunks_, may); i != none)
        return chunks_[i].key;
    return std::nullopt;
  }
  void expect(std::span<const Key> chunks) override { chunks_.prefetch_links(chunks); }

 private:
  struct Node : Link {
    Key key;
    Index bucket;
  };
  struct Bucket : Link {
    std::uint64_t count;
    EvictionOrder chunks;  // longest unused first; never empty
  };

  // Puts chunk i last in the bucket of `count`, at or behind bucket `from`, none for the end.
  void enter(Index i, Index from, std::uint64_t count) {
    while (from != none && bucket_[from].count < count) from = bucket_[from].next;
    if (from == none || bucket_[from].count != count) {
      const Index b = bucket_.take({{}, count, {}});
      buckets_.insert_before(bucket_, from, b);
      from = b;
    }
    chunks_[i].bucket = from;
    bucket_[from].chunks.push_back(chunks_, i);
  }

  void leave(Index i) {
    const Index b = chunks_[i].bucket;
    bucket_[b].chunks.erase(chunks_, i);
    if (!bucket_[b].chunks.empty()) return;
    buckets_.erase(bucket_, b);
    bucket_.give(b);
  }

  void raise(Index i) {
    const Index b = chunks_[i].bucket;
    const Index next = bucket_[b].next;
    const std::uint64_t count = bucket_[b].count + 1;
    leave(i);
    enter(i, next, count);
  }

  // Two buckets that come to the same count become one, the formerly lower first.
  void halve() {
    until_halved_ = halflife_ - 1;
    for (Index b = buckets_.front(), next; b != none; b = next) {
      next = bucket_[b].next;
      bucket_[b].count /= 2;
      const Index lower = bucket_[b].prev;
      if (lower == none || bucket_[lower].count != bucket_[b].count) continue;
      for (Index i = bucket_[b].chunks.front(); i != none; i = chunks_[i].next)
        chunks_[i].bucket = lower;
      bucket_[lower].chunks.append(chunks_, bucket_[b].chunks);
      buckets_.erase(bucket_, b);
      bucket_.give(b);
    }
  }

  const std::uint64_t halflife_;
  std::uint64_t until_halved_;  // uses
  Chunks<Node> chunks_;
  Slab<Bucket> bucket_;
  List buckets_;  // lowest count first
};

}  // namespace

std::unique_ptr<Policy> make_lfu(Parameters& parameters) {
  return std::make_unique<Lfu>(parameters.count("halflife", 0, 0, ~std::uint64_t{0}));
}

}  // namespace holdall::policies
