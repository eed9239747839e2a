// What another policy would have missed: a small memory without contents, for a sample of the
// chunks. Waldspurger, Saemundson, Ahmad and Park, "Cache modeling and optimization using miniature
// simulations", USENIX ATC 2017: one chunk in R, chosen by a hash of its key, in a memory R times
// smaller, misses about as the whole does.
//
//   Shadow shadow(make_policy("lru"), capacity / rate);
//   if (sampled(chunk, rate)) missed += shadow.request(chunk, request);
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <utility>

#include "policies/policy.hpp"
#include "policies/slab.hpp"

namespace holdall::policies {

// Is the chunk one of the sample? `rate` is a power of two.
inline bool sampled(Key chunk, std::uint64_t rate) {
  const std::uint64_t x = (static_cast<std::uint64_t>(chunk) + 1) * 0xd6e8feb86659fd93;
  return ((x ^ x >> 32) * 0xd6e8feb86659fd93 >> 32 & (rate - 1)) == 0;
}

class Shadow {
 public:
  Shadow(std::unique_ptr<Policy> policy, std::uint64_t capacity) : policy_(std::move(policy)) {
    resize(capacity);
  }

  // True if it misses. What is bigger than the whole memory misses and leaves it as it is. Chunks
  // for which `may` does not hold stay; if need be it grows beyond its capacity until they may go.
  bool request(
      Key chunk, const Request& request, const MayEvict& may = [](Key) { return true; }) {
    if (chunks_.find(chunk) != none) {
      policy_->accessed(chunk, request);
      return false;
    }
    if (!policy_->admit(chunk, request) || request.bytes > capacity_) return true;
    make_room(request.bytes, may);
    policy_->inserted(chunk, request);
    chunks_.add({chunk, request.bytes});
    used_ += request.bytes;
    return true;
  }

  void drop(Key chunk) { leave(chunk, Left::dropped); }
  void hinted(Key chunk, std::uint64_t next_use) { policy_->hinted(chunk, next_use); }
  void resize(std::uint64_t capacity) {
    capacity_ = capacity;
    policy_->resize(capacity);
    make_room(0, [](Key) { return true; });
  }

 private:
  struct Node {
    Key key;
    std::uint64_t bytes;
  };

  void make_room(std::uint64_t bytes, const MayEvict& may) {
    while (used_ + bytes > capacity_) {
      const std::optional<Key> victim = policy_->victim(may);
      if (!victim) return;
      leave(*victim, Left::evicted);
    }
  }
  void leave(Key chunk, Left why) {
    const Index i = chunks_.find(chunk);
    if (i == none) return;
    used_ -= chunks_[i].bytes;
    chunks_.drop(i);
    policy_->removed(chunk, why);
  }

  std::unique_ptr<Policy> policy_;
  Chunks<Node> chunks_;
  std::uint64_t capacity_ = 0, used_ = 0;  // in the unit of Request::bytes
};

}  // namespace holdall::policies
