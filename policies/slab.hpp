// Numbered nodes that are taken and given back: their numbers stay valid, their addresses do not.
#pragma once

#include <cstring>
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
