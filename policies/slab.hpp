// Numbered nodes that are taken and given back: their numbers stay valid, their addresses do not.
#pragma once

#include <vector>

#include "policies/key_map.hpp"
#include "policies/list.hpp"

namespace holdall::policies {

template <class Node>
class Slab {
 public:
  Index take(const Node& node) {
    if (free_.empty()) {
      nodes_.push_back(node);
      free_.reserve(nodes_.capacity());
      return static_cast<Index>(nodes_.size() - 1);
    }
    const Index i = free_.back();
    free_.pop_back();
    nodes_[i] = node;
    return i;
  }
  void give(Index i) { free_.push_back(i); }

  Node& operator[](Index i) { return nodes_[i]; }
  const Node& operator[](Index i) const { return nodes_[i]; }

 private:
  std::vector<Node> nodes_;
  std::vector<Index> free_;
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
