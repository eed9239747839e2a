// The policies that compare times between uses once more, as plainly as they can be written: every
// step looks at every chunk.
#pragma once

#include <utility>

#include "tests/policies/naive_queues.hpp"

namespace holdall {

class NaiveLirs : public NaiveRoom {
 public:
  NaiveLirs(double hir, bool caffeine) : hir_(hir), caffeine_(caffeine) {}

  void accessed(Key key, const Request&) override {
    const bool on_top = !stack_.empty() && stack_.back() == key;
    const bool in_stack = has(stack_, key);
    if (has(lir_, key)) {
      used_[key] = true;
      to_back(stack_, key);
      return prune();
    }
    const bool hit = take(q_, key);
    if (!hit) came(lir_.size() + q_.size() + 1);
    take(gone_, key);
    to_back(stack_, key);
    if (hit ? in_stack && !(caffeine_ && on_top) : in_stack || lir_.size() < most_lir()) {
      lir_.push_back(key);
      used_[key] = false;
    } else {
      q_.push_back(key);
    }
    balance();
    while (!gone_.empty() && (caffeine_ ? gone_.size() : stack_.size()) > 2 * fit()) {
      take(stack_, gone_.front());
      gone_.pop_front();
    }
  }
  void removed(Key key, Left why) override {
    const bool resident = take(lir_, key) || take(q_, key);
    if (why == Left::dropped) {
      take(gone_, key);
      take(stack_, key);
    } else if (resident && has(stack_, key)) {
      gone_.push_back(key);
    }
    prune();
  }
  std::optional<Key> victim(const MayEvict& may) override {
    wanted(lir_.size() + q_.size());
    balance();
    for (;;) {
      const auto key = first_in(q_, lir_, may);
      if (!key || has(q_, *key) || !used_[*key]) return key;
      used_[*key] = false;
      to_back(lir_, *key);
    }
  }
  void resize(std::uint64_t capacity) override {
    NaiveRoom::resize(capacity);
    balance();
  }

 private:
  std::size_t most_lir() const {
    if (!caffeine_) return fit() - part(hir_);
    return std::min(fit() - 1, static_cast<std::size_t>(static_cast<double>(fit()) * (1 - hir_)));
  }
  void prune() {
    while (!stack_.empty() && !has(lir_, stack_.front())) {
      take(gone_, stack_.front());
      stack_.pop_front();
    }
  }
  void balance() {
    prune();
    while (lir_.size() > most_lir()) {
      q_.push_back(stack_.front());
      take(lir_, stack_.front());
      stack_.pop_front();
      prune();
    }
  }

  double hir_;
  bool caffeine_;
  Row stack_, q_, lir_, gone_;  // S and Q, last used last; lir_ in the order of a clock
  std::map<Key, bool> used_;
};

// One clock, its head at the end; each hand is looked for from the other end.
class NaiveClockPro : public NaiveRoom {
 public:
  void accessed(Key key, const Request&) override {
    const bool repeats = last_ == key;
    last_ = key;
    const auto at = find(key);
    if (at != clock_.end() && at->state != gone) {
      at->used |= !repeats;
      return;
    }
    came(count(hot) + count(cold) + 1);
    clamp();
    if (at == clock_.end()) {
      const bool warm = !full_ && count(hot) + count(cold) + least() < fit();
      to_head(key, warm ? hot : cold, !warm);
    } else {
      const bool promoted = promotable(key);
      to_head(key, promoted ? hot : cold, !promoted);
    }
    pass_cold();
  }
  void removed(Key key, Left why) override {
    const auto at = find(key);
    if (at == clock_.end() || (at->state == gone && why == Left::evicted)) return;
    if (why == Left::dropped || !at->test) {
      clock_.erase(at);
      return;
    }
    at->state = gone;
    while (count(gone) > 2 * fit())
      end_test(std::find_if(clock_.begin(), clock_.end(), [](const Page& p) { return p.test; }));
  }
  std::optional<Key> victim(const MayEvict& may) override {
    wanted(count(hot) + count(cold));
    full_ = true;
    for (;;) {
      auto at = first(cold, may);
      if (at == clock_.end()) at = first(hot, may);
      if (at == clock_.end()) return std::nullopt;
      const Page page = *at;
      if (!page.used) return page.key;
      const bool stays_hot = page.state == hot || (page.test && promotable(page.key));
      to_head(page.key, stays_hot ? hot : cold, !stays_hot);
    }
  }
  void resize(std::uint64_t capacity) override {
    NaiveRoom::resize(capacity);
    full_ = false;
  }

 private:
  enum State { hot, cold, gone };
  struct Page {
    Key key;
    State state;
    bool test, used;
  };
  using Clock = std::deque<Page>;

  Clock::iterator find(Key key) {
    return std::find_if(clock_.begin(), clock_.end(), [&](const Page& p) { return p.key == key; });
  }
  Clock::iterator first(State state, const MayEvict& may) {
    return std::find_if(clock_.begin(), clock_.end(),
                        [&](const Page& p) { return p.state == state && may(p.key); });
  }
  std::size_t count(State state) const {
    return static_cast<std::size_t>(std::count_if(clock_.begin(), clock_.end(),
                                                  [&](const Page& p) { return p.state == state; }));
  }
  std::size_t least() const {
    const std::size_t share = static_cast<std::size_t>(static_cast<double>(fit()) * 0.01);
    return std::min(std::max<std::size_t>(2, share), std::max<std::size_t>(1, fit() / 2));
  }
  void clamp() {
    const std::size_t share = static_cast<std::size_t>(static_cast<double>(fit()) * 0.99);
    const std::size_t most = std::max(least(), std::min(fit() - least(), share));
    target_ = std::clamp(target_, least(), most);
  }
  void move_target(bool up) {
    if (up || target_ > 0) target_ += up ? 1 : std::size_t(-1);
    clamp();
  }

  bool promotable(Key key) {
    move_target(true);
    find(key)->used = false;
    while (count(hot) + target_ >= fit()) {
      const auto at = find(key);
      if (at == clock_.end() || !at->test || !cool(key)) return false;
    }
    return true;
  }
  // The hot hand goes from the tail as far as `until`.
  bool cool(Key until) {
    bool cooled = false;
    for (std::size_t i = 0; !cooled && clock_[i].key != until;) {
      const Page page = clock_[i];
      if (page.state != hot) {
        ++i;
        continue;
      }
      cooled = !page.used;
      to_head(page.key, cooled ? cold : hot, false);
    }
    pass_cold();
    return cooled;
  }
  void pass_cold() {
    if (count(hot) == 0) return;
    for (auto at = clock_.begin(); at->state != hot;) at = at->test ? end_test(at) : at + 1;
  }
  Clock::iterator end_test(Clock::iterator at) {
    const auto next = at - clock_.begin() + (at->state == gone ? 0 : 1);
    const bool used = at->used;
    at->test = false;
    if (at->state == gone) clock_.erase(at);
    move_target(used);
    return clock_.begin() + next;
  }
  void to_head(Key key, State state, bool test) {
    std::erase_if(clock_, [&](const Page& p) { return p.key == key; });
    clock_.push_back({key, state, test, false});
  }

  std::size_t target_ = 0;
  bool full_ = false;
  std::optional<Key> last_;
  Clock clock_;
};

class NaiveLruK : public NaiveRoom {
 public:
  // `retained` requests, none for 8 times what fits.
  NaiveLruK(std::size_t k, std::uint64_t correlated, std::optional<std::uint64_t> retained)
      : k_(k), correlated_(correlated), retained_(retained) {}

  void accessed(Key key, const Request&) override {
    ++now_;
    const bool resident = pages_.contains(key) && pages_[key].resident;
    if (!resident) {
      came(count() + 1);
      const std::uint64_t period = retained_.value_or(8 * fit());
      if (pages_.contains(key) && now_ - pages_[key].last > period) pages_.erase(key);
    }
    Page& page = pages_[key];
    page.uses.resize(k_);
    if (!resident || now_ - page.last > correlated_) {
      const std::uint64_t moved = resident ? page.last - page.uses[0] : 0;
      for (std::uint64_t& use : page.uses)
        if (use != 0) use += moved;
      page.uses.insert(page.uses.begin(), now_);
      page.uses.pop_back();
    }
    page.last = now_;
    page.resident = true;
    take(gone_, key);
    while (!gone_.empty() && now_ - pages_[gone_.front()].last > retained_.value_or(8 * fit())) {
      pages_.erase(gone_.front());
      gone_.pop_front();
    }
  }
  void removed(Key key, Left why) override {
    const auto at = pages_.find(key);
    if (at == pages_.end()) return;
    const bool was_resident = std::exchange(at->second.resident, false);
    if (why == Left::dropped || (retained_ == 0 && was_resident)) {
      pages_.erase(at);
      take(gone_, key);
    } else if (was_resident) {
      gone_.push_back(key);
    }
  }
  std::optional<Key> victim(const MayEvict& may) override {
    wanted(count());
    const auto least = [&](bool recent) {
      std::optional<Key> best;
      for (const auto& [key, page] : pages_)
        if (page.resident && may(key) && (recent || now_ + 1 - page.last > correlated_))
          if (!best || rank(page) < rank(pages_[*best])) best = key;
      return best;
    };
    const auto key = least(false);
    return key ? key : least(true);
  }

 private:
  struct Page {
    std::vector<std::uint64_t> uses;
    std::uint64_t last = 0;
    bool resident = false;
  };
  static std::pair<std::uint64_t, std::uint64_t> rank(const Page& page) {
    return {page.uses.back(), page.uses.front()};
  }
  std::size_t count() const {
    return static_cast<std::size_t>(std::count_if(
        pages_.begin(), pages_.end(), [](const auto& entry) { return entry.second.resident; }));
  }

  std::size_t k_;
  std::uint64_t correlated_;
  std::optional<std::uint64_t> retained_;
  std::uint64_t now_ = 0;
  Row gone_;
  std::map<Key, Page> pages_;
};

}  // namespace holdall
