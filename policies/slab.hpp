// Numbered nodes that are taken and given back: their numbers stay valid, their addresses do not.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "policies/key_map.hpp"
#include "policies/list.hpp"

namespace holdall::policies {

// Free nodes are chained through their own first bytes, so giving one back allocates nothing.
template <class Node>
class Slab {
  static_assert(std::is_trivially_copyable_v<Node> && sizeof(Node) >= sizeof(Index));

 public:
  Index take(const Node& node) {
    if (free_ == none) {
      if (nodes_.size() == nodes_.capacity())
        nodes_.reserve(nodes_.size() + nodes_.size() / 4 + 16);
      nodes_.push_back(node);
      return static_cast<Index>(nodes_.size() - 1);
    }
    const Index i = free_;
    std::memcpy(&free_, static_cast<const void*>(nodes_.data() + i), sizeof free_);
    nodes_.data()[i] = node;
    return i;
  }
  void give(Index i) {
    std::memcpy(static_cast<void*>(nodes_.data() + i), &free_, sizeof free_);
    free_ = i;
  }

  [[gnu::always_inline]] void prefetch(Index i) const { policies::prefetch(nodes_.data() + i); }

  Node& operator[](Index i) { return nodes_.data()[i]; }
  const Node& operator[](Index i) const { return nodes_.data()[i]; }

 private:
  std::vector<Node> nodes_;
  Index free_ = none;  // the one given back last
};

// A slab of the chunks that a policy knows, found by key. A Node has a member `key`.
template <class Node>
class Chunks {
 public:
  std::size_t size() const { return map_.size(); }
  Index find(Key key) const { return map_.find(key); }  // none if unknown

  // Asks the processor for what find(key) will touch.
  [[gnu::always_inline]] void prefetch_places(std::span<const Key> keys) const {
    for (const Key key : keys) map_.prefetch(key);
  }
  // Asks the processor for what find(key) and the nodes found will touch, of all keys at once, so
  // that the waits overlap.
  [[gnu::always_inline]] void prefetch(std::span<const Key> keys) const {
    prefetch_places(keys);
    for (const Key key : keys)
      if (const Index i = map_.find(key); i != none) slab_.prefetch(i);
  }
  // And the neighbours of the nodes in their list.
  [[gnu::always_inline]] void prefetch_links(std::span<const Key> keys) const {
    constexpr std::size_t most = 64;
    Index found[most];
    std::size_t n = 0;
    keys = keys.first(std::min(keys.size(), most));
    prefetch_places(keys);
    for (const Key key : keys)
      if (const Index i = map_.find(key); i != none) slab_.prefetch(found[n++] = i);
    for (const Index* i = found; i != found + n; ++i) {
      const Link& links = slab_[*i];
      slab_.prefetch(links.prev == none ? *i : links.prev);
      slab_.prefetch(links.next == none ? *i : links.next);
    }
  }
  // Node i will leave soon, the one behind it next.
  [[gnu::always_inline]] void prefetch_victim(Index i) const {
    const Index next = slab_[i].next;
    if (next == none) return;
    map_.prefetch(slab_[next].key);
    if (slab_[next].next != none) slab_.prefetch(slab_[next].next);
  }

  // The node's key is not here yet.
  Index add(const Node& node) {
    const Index i = slab_.take(node);
    map_.insert(node.key, i);
    return i;
  }
  void drop(Index i) {
    map_.erase(slab_[i].key);
    slab_.give(i);
  }

  Node& operator[](Index i) { return slab_[i]; }
  const Node& operator[](Index i) const { return slab_[i]; }

 private:
  Slab<Node> slab_;
  KeyMap map_;
};

}  // namespace holdall::policies
