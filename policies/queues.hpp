// What policies with several queues, and with a memory of chunks that they evicted (ghosts), are
// made of.
#pragma once

#include "policies/order.hpp"
#include "policies/policy.hpp"
#include "policies/slab.hpp"

namespace holdall::policies {

// A list or an order of eviction that knows its length.
template <class Order>
class Sized : public Order {
 public:
  std::size_t size() const { return size_; }

  template <class Nodes>
  void push_back(Nodes& nodes, Index i) {
    Order::push_back(nodes, i);
    ++size_;
  }
  template <class Nodes>
  void erase(Nodes& nodes, Index i) {
    Order::erase(nodes, i);
    --size_;
  }

 private:
  std::size_t size_ = 0;
};

using Queue = Sized<EvictionOrder>;  // of resident chunks
using Ghosts = Sized<List>;          // of evicted ones, first evicted first

// The first of `first` that may go, of `second` if there is none; none if there is none either.
template <class Nodes>
Index first_of(const Nodes& nodes, const MayEvict& may, EvictionOrder& first,
               EvictionOrder& second) {
  if (const Index i = first.probable(nodes, may); i != none) return i;
  if (const Index i = second.probable(nodes, may); i != none) return i;
  if (const Index i = first.remaining(nodes, may); i != none) return i;
  return second.remaining(nodes, may);
}

// The chunks that a policy knows, resident ones and ghosts. It saves the look-ups that a miss would
// repeat: from `admit` to `inserted`, and from `victim` to `removed`.
template <class Node>
class Known {
 public:
  std::size_t size() const { return chunks_.size(); }
  Index find(Key key) const { return chunks_.find(key); }  // none if unknown

  [[gnu::always_inline]] void prefetch_places(std::span<const Key> keys) const {
    chunks_.prefetch_places(keys);
  }
  [[gnu::always_inline]] void prefetch(std::span<const Key> keys) const { chunks_.prefetch(keys); }
  [[gnu::always_inline]] void prefetch_links(std::span<const Key> keys) const {
    chunks_.prefetch_links(keys);
  }

  // `find`, which the next find_asked(key) need not repeat.
  Index ask(Key key) {
    asked_ = key;
    asked_at_ = chunks_.find(key);
    asking_ = true;
    return asked_at_;
  }
  Index find_asked(Key key) const {
    return asking_ && asked_ == key ? asked_at_ : chunks_.find(key);
  }

  // Chunk i is resident and named as victim: find_offered(its key) is free.
  Key offer(Index i) {
    offered_ = i;
    chunks_.prefetch_victim(i);
    return chunks_[i].key;
  }
  Index find_offered(Key key) const {
    return offered_ != none && chunks_[offered_].key == key ? offered_ : chunks_.find(key);
  }

  Index add(const Node& node) {
    if (node.key == asked_) asking_ = false;
    return chunks_.add(node);
  }
  void drop(Index i) {
    if (i == offered_) offered_ = none;
    if (i == asked_at_) asking_ = false;
    chunks_.drop(i);
  }

  Node& operator[](Index i) { return chunks_[i]; }
  const Node& operator[](Index i) const { return chunks_[i]; }

 private:
  Chunks<Node> chunks_;
  Key asked_{};
  Index asked_at_ = none;
  Index offered_ = none;
  bool asking_ = false;
};

// The hooks of a policy over its `chunks_`, which is Known, and its `use(chunk, its node or none,
// request)`, of which it makes this a friend.
template <class Self>
class UsesKnown : public Policy {
 public:
  bool admit(Key chunk, const Request&) override {
    self().chunks_.ask(chunk);
    return true;
  }
  void inserted(Key chunk, const Request& request) final {
    self().use(chunk, self().chunks_.find_asked(chunk), request);
  }
  void accessed(Key chunk, const Request& request) final {
    self().use(chunk, self().chunks_.find(chunk), request);
  }
  // For policies that move what is hit in a list.
  void expect(std::span<const Key> chunks) override { self().chunks_.prefetch_links(chunks); }

 private:
  Self& self() { return static_cast<Self&>(*this); }
};

}  // namespace holdall::policies
