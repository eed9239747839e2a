// Chunks by rank, and the search for the first of them that may go: a heap, O(log n) a step.
//
// A chunk that was refused stands aside, so that the search need not step over it again: of those
// aside, 64 are asked again on every search, in turn, and return to the heap if they may go by
// then; all of them are asked only when no other chunk may go. So the order is exact while up to
// 64 chunks stand refused, as that of EvictionOrder is.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "policies/list.hpp"
#include "policies/policy.hpp"

namespace holdall::policies {

// What a node carries to be in a RankedOrder.
struct Ranked {
  Index place = none;
  bool aside = false;
};

// `nodes` is an array of nodes with a Ranked and a `key`, the same one on every call. The least
// rank goes first; a Rank has operator<, and no two are equal if the order is to be defined.
template <class Rank>
class RankedOrder {
 public:
  bool empty() const { return heap_.empty() && aside_.empty(); }
  // The first of those that do not stand aside, none if there is none.
  Index top() const { return heap_.empty() ? none : heap_.front().node; }

  template <class Nodes>
  const Rank& rank(const Nodes& nodes, Index i) const {
    return (nodes[i].aside ? aside_ : heap_)[nodes[i].place].rank;
  }

  template <class Nodes>
  void insert(Nodes& nodes, Index i, const Rank& rank) {
    nodes[i].aside = false;
    heap_.push_back({rank, i});
    aside_.reserve(heap_.capacity());  // so that standing aside allocates nothing
    up(nodes, static_cast<Index>(heap_.size() - 1), {rank, i});
  }

  template <class Nodes>
  void erase(Nodes& nodes, Index i) {
    if (nodes[i].aside)
      leave_aside(nodes, nodes[i].place);
    else
      leave_heap(nodes, nodes[i].place);
  }

  template <class Nodes>
  void update(Nodes& nodes, Index i, const Rank& rank) {
    if (nodes[i].aside)
      aside_[nodes[i].place].rank = rank;
    else
      settle(nodes, nodes[i].place, {rank, i});
  }

  // The first that may go, none if there is none.
  template <class Nodes>
  Index first(Nodes& nodes, const MayEvict& may) {
    ask_aside(nodes, may, std::min<std::size_t>(few, aside_.size()));
    for (; !heap_.empty(); stand_aside(nodes))
      if (may(nodes[heap_.front().node].key)) return heap_.front().node;
    ask_aside(nodes, may, aside_.size());
    return top();
  }

 private:
  static constexpr std::size_t few = 64;
  static constexpr Index fan = 4;  // children of an entry

  struct Entry {
    Rank rank;
    Index node;
  };

  template <class Nodes>
  void put(Nodes& nodes, Index at, const Entry& entry) {
    heap_[at] = entry;
    nodes[entry.node].place = at;
  }

  template <class Nodes>
  void up(Nodes& nodes, Index at, const Entry entry) {
    for (; at > 0; at = (at - 1) / fan) {
      const Entry& parent = heap_[(at - 1) / fan];
      if (!(entry.rank < parent.rank)) break;
      put(nodes, at, parent);
    }
    put(nodes, at, entry);
  }

  template <class Nodes>
  void down(Nodes& nodes, Index at, const Entry entry) {
    const Index size = static_cast<Index>(heap_.size());
    for (Index child = at * fan + 1; child < size; child = at * fan + 1) {
      Index least = child;
      for (Index c = child + 1; c < std::min(child + fan, size); ++c)
        if (heap_[c].rank < heap_[least].rank) least = c;
      if (!(heap_[least].rank < entry.rank)) break;
      put(nodes, at, heap_[least]);
      at = least;
    }
    put(nodes, at, entry);
  }

  template <class Nodes>
  void settle(Nodes& nodes, Index at, const Entry& entry) {
    if (at > 0 && entry.rank < heap_[(at - 1) / fan].rank)
      up(nodes, at, entry);
    else
      down(nodes, at, entry);
  }

  template <class Nodes>
  void leave_heap(Nodes& nodes, Index at) {
    const Entry last = heap_.back();
    heap_.pop_back();
    if (at < heap_.size()) settle(nodes, at, last);
  }

  template <class Nodes>
  void leave_aside(Nodes& nodes, Index at) {
    aside_[at] = aside_.back();
    nodes[aside_[at].node].place = at;
    aside_.pop_back();
  }

  template <class Nodes>
  void stand_aside(Nodes& nodes) {
    const Entry entry = heap_.front();
    leave_heap(nodes, 0);
    nodes[entry.node].aside = true;
    nodes[entry.node].place = static_cast<Index>(aside_.size());
    aside_.push_back(entry);
  }

  // Downwards, so that the entry that fills a gap is one that was asked already.
  template <class Nodes>
  void ask_aside(Nodes& nodes, const MayEvict& may, std::size_t questions) {
    if (questions == aside_.size()) next_ = questions;
    for (; questions > 0 && !aside_.empty(); --questions) {
      if (next_ == 0 || next_ > aside_.size()) next_ = aside_.size();
      const Entry entry = aside_[--next_];
      if (!may(nodes[entry.node].key)) continue;
      leave_aside(nodes, static_cast<Index>(next_));
      insert(nodes, entry.node, entry.rank);
    }
  }

  std::vector<Entry> heap_;
  std::vector<Entry> aside_;
  std::size_t next_ = 0;  // one past the next to ask of those aside
};

}  // namespace holdall::policies
