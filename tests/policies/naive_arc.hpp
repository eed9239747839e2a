// ARC and CAR once more, as plainly as they can be written: every step looks at every chunk.
#pragma once

#include "tests/policies/naive_queues.hpp"

namespace holdall {

// ARC; with clocks, CAR.
class NaiveArc : public NaiveRoom {
 public:
  NaiveArc(bool clocks, bool whole) : clocks_(clocks), whole_(whole) {}

  bool admit(Key key, const Request&) override {
    for_b2_ = has(b2_, key);
    if (!clocks_) adapt(key);
    return true;
  }
  void accessed(Key key, const Request&) override {
    if (has(t1_, key) || has(t2_, key)) {
      if (clocks_) {
        used_[key] = true;
      } else {
        take(t1_, key);
        to_back(t2_, key);
      }
      return;
    }
    came(t1_.size() + t2_.size() + 1);
    adapt(key);
    adapted_[key] = for_b2_ = used_[key] = false;
    (take(b1_, key) || take(b2_, key) ? t2_ : t1_).push_back(key);
    while (t1_.size() + b1_.size() > fit() && !b1_.empty()) forget(b1_);
    while (t1_.size() + t2_.size() + b1_.size() + b2_.size() > 2 * fit() && !b2_.empty())
      forget(b2_);
  }
  void removed(Key key, Left why) override {
    if (why == Left::dropped) {
      for (Row* row : {&t1_, &t2_, &b1_, &b2_}) take(*row, key);
      adapted_[key] = false;
    } else if (take(t1_, key)) {
      b1_.push_back(key);
    } else if (take(t2_, key)) {
      b2_.push_back(key);
    }
  }
  std::optional<Key> victim(const MayEvict& may) override {
    wanted(t1_.size() + t2_.size());
    for (;;) {
      const double n = static_cast<double>(t1_.size());
      const bool once = clocks_ ? n >= std::max(1.0, p_) : n > p_ || (n == p_ && for_b2_);
      const auto key = once ? first_in(t1_, t2_, may) : first_in(t2_, t1_, may);
      if (!key || !used_[*key]) return key;
      used_[*key] = false;
      take(t1_, *key);
      to_back(t2_, *key);
    }
  }

 private:
  void adapt(Key key) {
    if (adapted_[key] || !(has(b1_, key) || has(b2_, key))) return;
    adapted_[key] = true;
    const double n1 = static_cast<double>(b1_.size()), n2 = static_cast<double>(b2_.size());
    double step = std::max(1.0, has(b1_, key) ? n2 / n1 : n1 / n2);
    if (whole_) step = static_cast<double>(static_cast<int>(step));
    p_ = has(b1_, key) ? std::min(p_ + step, static_cast<double>(fit())) : std::max(p_ - step, 0.0);
  }
  void forget(Row& ghosts) {
    adapted_[ghosts.front()] = false;
    ghosts.pop_front();
  }

  bool clocks_, whole_;
  double p_ = 0;
  bool for_b2_ = false;
  Row t1_, t2_, b1_, b2_;
  std::map<Key, bool> used_, adapted_;
};

}  // namespace holdall
