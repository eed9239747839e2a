// The policies of drivers and kernels, and the preference for clean chunks, told naively as lists.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "policies/policy.hpp"

namespace holdall {

// The order of all chunks as one list of pairs; a block's time is that of its last insertion.
class NaiveUvm : public Policy {
 public:
  explicit NaiveUvm(std::uint64_t block) : block_(block) {}
  void inserted(Key key, const Request&) override {
    if (std::find(order_.begin(), order_.end(), key) != order_.end()) return;
    std::stable_partition(order_.begin(), order_.end(),
                          [&](Key other) { return block(other) != block(key); });
    order_.push_back(key);
  }
  void accessed(Key key, const Request& request) override { inserted(key, request); }
  void removed(Key key, Left) override { std::erase(order_, key); }
  std::optional<Key> victim(const MayEvict& may) override {
    for (const Key key : order_)
      if (may(key)) return key;
    return std::nullopt;
  }

 private:
  std::uint64_t block(Key key) const { return static_cast<std::uint64_t>(key) / block_; }
  std::uint64_t block_;
  std::vector<Key> order_;
};

// All generations in one list, the oldest first.
class NaiveMglru : public Policy {
 public:
  NaiveMglru(std::size_t generations, std::size_t every)
      : every_(every), generations_(generations) {}
  void inserted(Key key, const Request&) override {
    const auto size = chunks().size();
    if (++uses_ >= (every_ != 0 ? every_ : size + 1)) scan();
    for (auto& generation : generations_)
      for (auto& [k, used] : generation)
        if (k == key) {
          used = true;
          return;
        }
    generations_.back().push_back({key, false});
  }
  void accessed(Key key, const Request& request) override { inserted(key, request); }
  void removed(Key key, Left) override {
    for (auto& generation : generations_)
      std::erase_if(generation, [&](const auto& c) { return c.first == key; });
  }
  std::optional<Key> victim(const MayEvict& may) override {
    for (;;) {
      const auto all = chunks();
      const auto first =
          std::find_if(all.begin(), all.end(), [&](const auto& c) { return may(c.first); });
      if (first == all.end()) return std::nullopt;
      if (!first->second) return first->first;
      removed(first->first, Left::evicted);
      generations_.back().push_back({first->first, false});
    }
  }

 private:
  using Generation = std::vector<std::pair<Key, bool>>;
  Generation chunks() const {
    Generation all;
    for (const auto& g : generations_) all.insert(all.end(), g.begin(), g.end());
    return all;
  }
  void scan() {
    uses_ = 0;
    Generation youngest;
    for (auto& generation : generations_)
      for (const auto& c : generation)
        if (c.second) youngest.push_back({c.first, false});
    for (auto& generation : generations_)
      std::erase_if(generation, [](const auto& c) { return c.second; });
    generations_[1].insert(generations_[1].begin(), generations_[0].begin(), generations_[0].end());
    generations_.erase(generations_.begin());
    generations_.push_back(youngest);
  }
  std::size_t every_, uses_ = 0;
  std::vector<Generation> generations_;  // always as many as there may be
};

// Clean first, around LRU.
class NaiveClean : public Policy {
 public:
  explicit NaiveClean(std::size_t among) : among_(among) {}
  void inserted(Key key, const Request& request) override {
    bool dirty = request.write;
    for (const auto& [k, d] : order_) dirty = dirty || (k == key && d);
    removed(key, Left::evicted);
    order_.push_back({key, dirty});
  }
  void accessed(Key key, const Request& request) override { inserted(key, request); }
  void removed(Key key, Left) override {
    std::erase_if(order_, [&](const auto& c) { return c.first == key; });
  }
  std::optional<Key> victim(const MayEvict& may) override {
    std::vector<std::pair<Key, bool>> next;
    for (const auto& c : order_)
      if (may(c.first) && next.size() < among_) next.push_back(c);
    for (const auto& [key, dirty] : next)
      if (!dirty) return key;
    return next.empty() ? std::nullopt : std::optional(next.front().first);
  }

 private:
  std::size_t among_;
  std::vector<std::pair<Key, bool>> order_;
};

}  // namespace holdall
