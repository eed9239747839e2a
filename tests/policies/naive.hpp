// The policies once more, as plainly as they can be written: every step looks at every chunk.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <vector>

#include "policies/policy.hpp"

namespace holdall {

// Evicts the least chunk by an order on when it came, when it was last used, and how often.
class NaiveOrder : public Policy {
 public:
  struct Chunk {
    Key key;
    std::uint64_t came, used, uses;
  };
  using Before = std::function<bool(const Chunk&, const Chunk&)>;

  explicit NaiveOrder(Before before, std::uint64_t halflife = 0)
      : before_(std::move(before)), halflife_(halflife) {}

  void inserted(Key key, const Request&) override {
    if (halflife_ != 0 && now_ != 0 && now_ % halflife_ == 0) halve();
    ++now_;
    for (Chunk& c : chunks_)
      if (c.key == key) {
        c.used = now_ + past_;
        ++c.uses;
        return;
      }
    chunks_.push_back({key, now_ + past_, now_ + past_, 1});
  }
  void accessed(Key key, const Request& request) override { inserted(key, request); }
  void removed(Key key, Left) override {
    std::erase_if(chunks_, [&](const Chunk& c) { return c.key == key; });
  }
  std::optional<Key> victim(const MayEvict& may) override {
    const Chunk* best = nullptr;
    for (const Chunk& c : chunks_)
      if (may(c.key) && (best == nullptr || before_(c, *best))) best = &c;
    return best == nullptr ? std::nullopt : std::optional(best->key);
  }

 private:
  // Those that come to the same count keep their order: it becomes the order of last use.
  void halve() {
    std::sort(chunks_.begin(), chunks_.end(), before_);
    for (Chunk& c : chunks_) {
      c.used = now_ + ++past_;
      c.uses /= 2;
    }
  }

  Before before_;
  std::uint64_t halflife_;
  std::uint64_t now_ = 0, past_ = 0;
  std::vector<Chunk> chunks_;
};

// The circle as a queue: the hand takes the front, and puts it at the back where it stays. With
// `newcomer_first`, the one who asks for room stands in the queue meanwhile.
class NaiveClock : public Policy {
 public:
  explicit NaiveClock(int most, bool newcomer_first = false)
      : most_(most), newcomer_first_(newcomer_first) {}

  bool admit(Key key, const Request&) override {
    if (!newcomer_first_) return true;
    std::erase_if(queue_, [&](const auto& c) { return c.first == newcomer_; });
    newcomer_.reset();
    const bool full = capacity_ != 0 && queue_.size() >= capacity_;
    if (full && std::all_of(queue_.begin(), queue_.end(), [](auto& c) { return c.second > 0; })) {
      for (auto& c : queue_) --c.second;
      return false;
    }
    newcomer_ = key;
    queue_.push_back({key, 0});
    return true;
  }
  void resize(std::uint64_t capacity) override { capacity_ = capacity; }

  void inserted(Key key, const Request&) override {
    for (auto& [k, count] : queue_)
      if (k == key) {
        if (newcomer_ != key) count = std::min(count + 1, most_);
        newcomer_.reset();
        return;
      }
    newcomer_.reset();
    queue_.push_back({key, 0});
  }
  void accessed(Key key, const Request& request) override { inserted(key, request); }
  void removed(Key key, Left) override {
    std::erase_if(queue_, [&](const auto& c) { return c.first == key; });
  }
  std::optional<Key> victim(const MayEvict& may) override {
    if (std::none_of(queue_.begin(), queue_.end(),
                     [&](const auto& c) { return c.first != newcomer_ && may(c.first); }))
      return std::nullopt;
    for (;;) {
      auto [key, count] = queue_.front();
      if (count == 0 && key != newcomer_ && may(key)) return key;
      queue_.pop_front();
      queue_.push_back({key, std::max(count - 1, 0)});
    }
  }

 private:
  int most_;
  bool newcomer_first_;
  std::optional<Key> newcomer_;  // in the queue, and not yet in
  std::size_t capacity_ = 0;
  std::deque<std::pair<Key, int>> queue_;
};

inline std::unique_ptr<Policy> naive_fifo() {
  return std::make_unique<NaiveOrder>([](const auto& a, const auto& b) { return a.came < b.came; });
}
inline std::unique_ptr<Policy> naive_lru() {
  return std::make_unique<NaiveOrder>([](const auto& a, const auto& b) { return a.used < b.used; });
}
inline std::unique_ptr<Policy> naive_mru() {
  return std::make_unique<NaiveOrder>([](const auto& a, const auto& b) { return a.used > b.used; });
}
inline std::unique_ptr<Policy> naive_lfu(std::uint64_t halflife) {
  return std::make_unique<NaiveOrder>(
      [](const auto& a, const auto& b) {
        return a.uses != b.uses ? a.uses < b.uses : a.used < b.used;
      },
      halflife);
}
inline std::unique_ptr<Policy> naive_clock(int bits) {
  return std::make_unique<NaiveClock>((1 << bits) - 1);
}

}  // namespace holdall
