// A doubly linked list of numbered nodes, its links inside the nodes: nothing is allocated, and a
// node is found, moved and unlinked in O(1). One node is on one list at a time.
//
//   struct Node : Link { Key key; };
//   std::vector<Node> nodes;
//   List order;
//   order.push_back(nodes, 7);
//   for (Index i = order.front(); i != none; i = nodes[i].next) ...
#pragma once

#include <cstdint>

namespace holdall::policies {

using Index = std::uint32_t;  // of a node in its array
inline constexpr Index none = ~Index{0};

// Asks the processor for what stands there. Inlined always: GCC takes a function that does no more
// for one without effect, and leaves its calls out.
[[gnu::always_inline]] inline void prefetch(const void* there) { __builtin_prefetch(there); }

struct Link {
  Index prev = none;
  Index next = none;
};

// `nodes` is whatever array the links are in; it is the same one on every call.
class List {
 public:
  bool empty() const { return front_ == none; }
  Index front() const { return front_; }  // none if empty
  Index back() const { return back_; }

  // `at` is on the list, or none for its end.
  template <class Nodes>
  void insert_before(Nodes& nodes, Index at, Index node) {
    const Index before = at == none ? back_ : nodes[at].prev;
    nodes[node].prev = before;
    nodes[node].next = at;
    (before == none ? front_ : nodes[before].next) = node;
    (at == none ? back_ : nodes[at].prev) = node;
  }

  template <class Nodes>
  void push_back(Nodes& nodes, Index node) {
    insert_before(nodes, none, node);
  }

  template <class Nodes>
  void erase(Nodes& nodes, Index node) {
    const auto [prev, next] = static_cast<const Link&>(nodes[node]);
    (prev == none ? front_ : nodes[prev].next) = next;
    (next == none ? back_ : nodes[next].prev) = prev;
  }

  template <class Nodes>
  void move_to_back(Nodes& nodes, Index node) {
    if (node == back_) return;
    erase(nodes, node);
    push_back(nodes, node);
  }

  // Moves all of `other` behind what is here.
  template <class Nodes>
  void append(Nodes& nodes, List& other) {
    if (other.empty()) return;
    nodes[other.front_].prev = back_;
    (back_ == none ? front_ : nodes[back_].next) = other.front_;
    back_ = other.back_;
    other = List();
  }

 private:
  Index front_ = none;
  Index back_ = none;
};

}  // namespace holdall::policies
