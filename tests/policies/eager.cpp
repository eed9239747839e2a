#include "tests/policies/eager.hpp"

#include <algorithm>
#include <list>
#include <unordered_map>

namespace holdall {

namespace {

// Keys in the order in which they were put at the end.
class Order {
 public:
  std::size_t size() const { return at_.size(); }
  bool empty() const { return at_.empty(); }
  bool has(Key key) const { return at_.contains(key); }
  Key front() const { return keys_.front(); }
  void put(Key key) {
    take(key);
    at_[key] = keys_.insert(keys_.end(), key);
  }
  bool take(Key key) {
    const auto at = at_.find(key);
    if (at == at_.end()) return false;
    keys_.erase(at->second);
    at_.erase(at);
    return true;
  }
  Key take_front() {
    const Key key = keys_.front();
    take(key);
    return key;
  }

 private:
  std::list<Key> keys_;
  std::unordered_map<Key, std::list<Key>::iterator> at_;
};

class Lirs {
 public:
  explicit Lirs(std::size_t capacity)
      : capacity_(capacity), most_hir_(std::max<std::size_t>(1, capacity / 100)) {}

  Eager result;

  void request(Key key) {
    if (!hit(key)) miss(key);
    while (stack_.size() > 2 * capacity_ && !gone_.empty()) stack_.take(gone_.take_front());
  }

 private:
  std::size_t most_lir() const { return capacity_ - most_hir_; }

  bool hit(Key key) {
    const bool in_stack = stack_.has(key), in_queue = queue_.has(key);
    if (in_stack) stack_.put(key);
    if (in_queue) queue_.put(key);
    const bool in_cache = in_stack ? !gone_.has(key) : in_queue;
    if (lir_.has(key)) {
      prune();
    } else if (in_cache) {
      if (in_stack) queue_.take(key);
      while (lir_.size() >= most_lir()) result.unasked += cool();
      in_stack ? lir_.put(key) : stack_.put(key);
    }
    return in_cache;
  }

  void miss(Key key) {
    ++result.misses;
    if (most_lir() == 0) return;
    if (stack_.has(key)) {
      while (lir_.size() >= most_lir()) cool();
      gone_.take(key);
      lir_.put(key);
      return;
    }
    stack_.put(key);
    if (lir_.size() < most_lir()) return lir_.put(key);
    while (queue_.size() >= most_hir_) evict();
    queue_.put(key);
  }

  // The LIR chunk at the bottom becomes HIR. How many others were evicted for that?
  std::size_t cool() {
    const Key key = stack_.take_front();
    lir_.take(key);
    std::size_t evicted = 0;
    for (; queue_.size() >= most_hir_; ++evicted) evict();
    queue_.put(key);
    prune();
    return evicted;
  }
  void evict() {
    const Key key = queue_.take_front();
    if (stack_.has(key)) gone_.put(key);
  }
  void prune() {
    while (stack_.size() > 1 && !lir_.has(stack_.front())) gone_.take(stack_.take_front());
  }

  std::size_t capacity_, most_hir_;
  Order stack_, queue_, gone_, lir_;
};

}  // namespace

Eager eager_slru(std::span<const Key> trace, std::size_t capacity,
                 const std::vector<std::size_t>& sizes) {
  Eager result;
  std::vector<Order> segments(sizes.size());
  std::size_t resident = 0;
  const auto evict = [&] {
    for (Order& segment : segments)
      if (!segment.empty()) {
        segment.take_front();
        --resident;
        return;
      }
  };
  const auto request = [&](Key key) {
    for (std::size_t s = 0; s < sizes.size(); ++s) {
      if (!segments[s].has(key)) continue;
      if (s + 1 == sizes.size()) return segments[s].put(key);
      segments[s].take(key);
      segments[s + 1].put(key);
      std::size_t over = s + 1;
      for (; over > 0 && segments[over].size() > sizes[over]; --over)
        segments[over - 1].put(segments[over].take_front());
      for (; over == 0 && segments[0].size() > sizes[0]; ++result.unasked) evict();
      return;
    }
    ++result.misses;
    if (sizes[0] == 0) return;
    if (resident == capacity) evict();
    std::size_t s = 0;
    while (s < sizes.size() && segments[s].size() >= sizes[s]) ++s;
    segments[s % sizes.size()].put(key);
    ++resident;
  };
  for (const Key key : trace) request(key);
  return result;
}

Eager eager_s3fifo(std::span<const Key> trace, std::size_t capacity) {
  const auto share = [&](double part) {
    return static_cast<std::size_t>(static_cast<double>(capacity) * part);
  };
  const std::size_t small_size = std::max<std::size_t>(1, share(0.1)), ghost_size = share(0.9);
  Eager result;
  Order small, main, ghosts;
  std::unordered_map<Key, int> hits;
  const auto evict_main = [&] {
    while (hits[main.front()] > 0) {
      --hits[main.front()];
      main.put(main.front());
    }
    main.take_front();
  };
  const auto evict_small = [&] {
    while (!small.empty()) {
      const Key key = small.front();
      if (hits[key] <= 1) {
        if (ghosts.size() == ghost_size) ghosts.take_front();
        ghosts.put(small.take_front());
        return;
      }
      hits[key] = 0;
      main.put(key);
      if (main.size() > capacity - small_size) evict_main();
      small.take(key);
    }
  };
  for (const Key key : trace) {
    if (small.has(key) || main.has(key)) {
      hits[key] = std::min(hits[key] + 1, 3);
      continue;
    }
    ++result.misses;
    const bool full = small.size() + main.size() == capacity;
    while (small.size() + main.size() == capacity)
      small.size() >= small_size || main.empty() ? evict_small() : evict_main();
    if (full) result.unasked += capacity - small.size() - main.size() - 1;
    (ghosts.take(key) ? main : small).put(key);
    hits[key] = 0;
  }
  return result;
}

Eager eager_lirs(std::span<const Key> trace, std::size_t capacity) {
  Lirs lirs(capacity);
  for (const Key key : trace) lirs.request(key);
  return lirs.result;
}

}  // namespace holdall
