// The policies once more, as plainly as they can be written: every step looks at every chunk.
#pragma once

#include <algorithm>
#include <deque>

#include "policies/policy.hpp"
#include "tests/policies/naive_least.hpp"

namespace holdall {

// LFU whose counts are halved every `halflife` uses; 0: never. Those that come to the same count
// keep their order: it becomes the order of last use.
class NaiveLfu : public NaiveLeast {
 public:
  explicit NaiveLfu(std::uint64_t halflife) : NaiveLeast(before), halflife_(halflife) {}

  void inserted(Key key, const Request& request) override {
    if (halflife_ != 0 && uses_ != 0 && uses_ % halflife_ == 0) halve();
    ++uses_;
    NaiveLeast::inserted(key, request);
  }

 private:
  static bool before(const Chunk& a, const Chunk& b) {
    return a.uses != b.uses ? a.uses < b.uses : a.used < b.used;
  }
  void halve() {
    std::sort(chunks_.begin(), chunks_.end(), before);
    for (Chunk& c : chunks_) {
      c.used = ++now_;
      c.uses /= 2;
    }
  }

  std::uint64_t halflife_, uses_ = 0;
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
  return std::make_unique<NaiveLeast>([](const auto& a, const auto& b) { return a.came < b.came; });
}
inline std::unique_ptr<Policy> naive_mru() {
  return std::make_unique<NaiveLeast>([](const auto& a, const auto& b) { return a.used > b.used; });
}
inline std::unique_ptr<Policy> naive_lfu(std::uint64_t halflife) {
  return std::make_unique<NaiveLfu>(halflife);
}
inline std::unique_ptr<Policy> naive_clock(int bits) {
  return std::make_unique<NaiveClock>((1 << bits) - 1);
}

}  // namespace holdall
