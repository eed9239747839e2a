// Policies that evict the least by some order, told naively.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "policies/policy.hpp"

namespace holdall {

// Every step looks at every chunk.
class NaiveLeast : public Policy {
 public:
  struct Chunk {
    Key key;
    std::uint64_t came, used, uses;
    bool dirty;
    std::uint64_t next_use;
    double base;  // L at the last use
  };
  using Before = std::function<bool(const Chunk&, const Chunk&)>;

  explicit NaiveLeast(Before before, bool bypass = false)
      : before_(std::move(before)), bypass_(bypass) {}

  bool admit(Key key, const Request& request) override {
    knows_ = knows_ || request.next_use != Request::never;
    if (!bypass_ || !knows_ || chunks_.size() < capacity_) return true;
    const Chunk newcomer{key, now_ + 1, now_ + 1, 1, request.write, request.next_use, level};
    return request.next_use != Request::never &&
           std::any_of(chunks_.begin(), chunks_.end(),
                       [&](const Chunk& c) { return before_(c, newcomer); });
  }
  void inserted(Key key, const Request& request) override {
    ++now_;
    auto c = std::find_if(chunks_.begin(), chunks_.end(),
                          [&](const Chunk& other) { return other.key == key; });
    if (c == chunks_.end()) {
      chunks_.push_back({key, now_, now_, 0, false, 0, 0});
      c = chunks_.end() - 1;
    }
    c->used = now_;
    ++c->uses;
    c->dirty = c->dirty || request.write;
    c->next_use = request.next_use;
    c->base = level;
  }
  void accessed(Key key, const Request& request) override { inserted(key, request); }
  void removed(Key key, Left) override {
    for (const Chunk& c : chunks_)
      if (c.key == key && worth) level = std::max(level, worth(c));
    std::erase_if(chunks_, [&](const Chunk& c) { return c.key == key; });
  }
  std::optional<Key> victim(const MayEvict& may) override {
    const Chunk* best = nullptr;
    for (const Chunk& c : chunks_)
      if (may(c.key) && (best == nullptr || before_(c, *best))) best = &c;
    return best == nullptr ? std::nullopt : std::optional(best->key);
  }
  void resize(std::uint64_t capacity) override { capacity_ = capacity; }

  std::uint64_t now() const { return now_; }
  double level = 0;  // L of greedy dual
  std::function<double(const Chunk&)> worth;

 protected:
  std::uint64_t now_ = 0;
  std::vector<Chunk> chunks_;

 private:
  Before before_;
  bool bypass_, knows_ = false;
  std::uint64_t capacity_ = 0;
};

inline std::unique_ptr<Policy> naive_opt(bool bypass) {
  return std::make_unique<NaiveLeast>(
      [](const NaiveLeast::Chunk& a, const NaiveLeast::Chunk& b) {
        return a.next_use != b.next_use ? a.next_use > b.next_use : a.used < b.used;
      },
      bypass);
}

inline std::unique_ptr<Policy> naive_greedy_dual(double write_back) {
  const auto worth = [=](const NaiveLeast::Chunk& c) {
    return c.base + static_cast<double>(c.uses) * (1 + (c.dirty ? write_back : 0));
  };
  auto naive =
      std::make_unique<NaiveLeast>([=](const NaiveLeast::Chunk& a, const NaiveLeast::Chunk& b) {
        return worth(a) != worth(b) ? worth(a) < worth(b) : a.used < b.used;
      });
  naive->worth = worth;
  return naive;
}

class NaiveHyperbolic : public NaiveLeast {
 public:
  NaiveHyperbolic()
      : NaiveLeast([this](const Chunk& a, const Chunk& b) {
          const double x = rate(a), y = rate(b);
          return x != y ? x < y : a.came < b.came;
        }) {}

 private:
  double rate(const Chunk& c) const {
    return static_cast<double>(c.uses) / static_cast<double>(now() - c.came + 1);
  }
};

inline std::unique_ptr<Policy> naive_lru() {
  return std::make_unique<NaiveLeast>(
      [](const NaiveLeast::Chunk& a, const NaiveLeast::Chunk& b) { return a.used < b.used; });
}

}  // namespace holdall
