// Chunks in the order of eviction, and the search for the first of them that may go.
//
// A chunk that may not go now will seldom be free a moment later, so those that were refused are
// not all asked again on every search: the first 64 always, and of the others 64 in turn; all of
// them only when no other chunk may go. So the order is exact while up to 64 chunks stand refused.
// Behind more than that, a chunk that is free again may be found some searches late, and a search
// among 100,000 chunks of which 99 % are refused asks about 130.
#pragma once

#include "policies/list.hpp"
#include "policies/policy.hpp"

namespace holdall::policies {

// `nodes` is an array of nodes with a Link and a `key`, the same one on every call.
class EvictionOrder {
 public:
  bool empty() const { return list_.empty(); }
  Index front() const { return list_.front(); }

  template <class Nodes>
  void push_back(Nodes& nodes, Index i) {
    list_.push_back(nodes, i);
    if (fresh_ == none) fresh_ = i;
  }

  // Next to be evicted.
  template <class Nodes>
  void push_front(Nodes& nodes, Index i) {
    const bool none_refused = fresh_ == list_.front();
    list_.insert_before(nodes, list_.front(), i);
    if (none_refused) fresh_ = i;
  }

  template <class Nodes>
  void erase(Nodes& nodes, Index i) {
    if (fresh_ == i) fresh_ = nodes[i].next;
    if (again_ == i) again_ = nodes[i].next;
    list_.erase(nodes, i);
  }

  template <class Nodes>
  void move_to_back(Nodes& nodes, Index i) {
    erase(nodes, i);
    push_back(nodes, i);
  }

  // Moves all of `other` behind what is here.
  template <class Nodes>
  void append(Nodes& nodes, EvictionOrder& other) {
    if (fresh_ == none) fresh_ = other.front();
    list_.append(nodes, other.list_);
    other = EvictionOrder();
  }

  // The first that may go, none if there is none.
  template <class Nodes>
  Index first(const Nodes& nodes, const MayEvict& may) {
    const Index i = probable(nodes, may);
    return i != none ? i : remaining(nodes, may);
  }

  // `first` in two halves, for a search through several orders: a short one that asks the refused
  // only in part, and the whole one for when the short one finds nothing in any of them.
  template <class Nodes>
  Index probable(const Nodes& nodes, const MayEvict& may) {
    // 1. the first of the refused
    Index i = list_.front();
    for (int n = 0; n < few && i != fresh_; ++n, i = nodes[i].next)
      if (may(nodes[i].key)) return i;

    // 2. the next few of the others
    if (i != fresh_) {
      if (again_ == none) again_ = i;
      for (int n = 0; n < few && again_ != fresh_; ++n, again_ = nodes[again_].next)
        if (may(nodes[again_].key)) return again_;
      if (again_ == fresh_) again_ = none;
    }

    // 3. those not asked before
    for (; fresh_ != none; fresh_ = nodes[fresh_].next)
      if (may(nodes[fresh_].key)) return fresh_;
    return none;
  }

  template <class Nodes>
  Index remaining(const Nodes& nodes, const MayEvict& may) {
    const Index start = again_ == none ? list_.front() : again_;
    for (Index i = start; i != none; i = nodes[i].next)
      if (may(nodes[i].key)) return again_ = i;
    for (Index i = list_.front(); i != start; i = nodes[i].next)
      if (may(nodes[i].key)) return again_ = i;
    return none;
  }

 private:
  static constexpr int few = 64;

  List list_;
  Index fresh_ = none;  // all before it were refused; none if all were
  Index again_ = none;  // the next of the refused to ask; none to start behind the first few
};

}  // namespace holdall::policies
