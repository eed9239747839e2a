// The policies of several queues once more, as plainly as they can be written: every step looks at
// every chunk.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "policies/policy.hpp"

namespace holdall {

using Row = std::deque<Key>;

inline bool has(const Row& row, Key key) {
  return std::find(row.begin(), row.end(), key) != row.end();
}
// Takes the key out, false if it is not in.
inline bool take(Row& row, Key key) { return std::erase(row, key) > 0; }
inline void to_back(Row& row, Key key) {
  take(row, key);
  row.push_back(key);
}
inline std::optional<Key> first_in(const Row& row, const MayEvict& may) {
  const auto at = std::find_if(row.begin(), row.end(), [&](Key key) { return may(key); });
  return at == row.end() ? std::nullopt : std::optional(*at);
}
inline std::optional<Key> first_in(const Row& row, const Row& next, const MayEvict& may) {
  const auto key = first_in(row, may);
  return key ? key : first_in(next, may);
}

// Chunks of size 1: as many fit as the capacity says, but no more than ever were resident when a
// victim was wanted; without a capacity, as many as ever were resident.
class NaiveRoom : public Policy {
 public:
  void inserted(Key key, const Request& request) override { accessed(key, request); }
  void resize(std::uint64_t capacity) override {
    capacity_ = capacity;
    pressed_ = 0;
  }

 protected:
  std::size_t fit() const {
    std::size_t n = capacity_ != 0 && most_ != 0 ? capacity_ : most_;
    if (pressed_ != 0) n = std::min(n, pressed_);
    return std::max<std::size_t>(n, 1);
  }
  std::size_t part(double share) const {
    return std::max<std::size_t>(1, static_cast<std::size_t>(static_cast<double>(fit()) * share));
  }
  void came(std::size_t resident) { most_ = std::max(most_, resident); }
  void wanted(std::size_t resident) { pressed_ = std::max(pressed_, resident); }

 private:
  std::size_t capacity_ = 0, most_ = 0, pressed_ = 0;
};

class NaiveSieve : public Policy {
 public:
  void inserted(Key key, const Request&) override {
    if (has(row_, key))
      marked_[key] = true;
    else
      row_.push_back(key);
  }
  void accessed(Key key, const Request& request) override { inserted(key, request); }
  void removed(Key key, Left) override {
    const auto at = std::find(row_.begin(), row_.end(), key);
    if (at == row_.end()) return;
    if (hand_ == key) hand_ = at + 1 == row_.end() ? std::nullopt : std::optional(*(at + 1));
    row_.erase(at);
    marked_.erase(key);
  }
  std::optional<Key> victim(const MayEvict& may) override {
    if (!first_in(row_, may)) return std::nullopt;
    std::size_t at = 0;
    while (hand_ && row_[at] != *hand_) ++at;
    for (;; at = (at + 1) % row_.size()) {
      if (!marked_[row_[at]] && may(row_[at])) return hand_ = row_[at];
      marked_[row_[at]] = false;
    }
  }

 private:
  Row row_;  // oldest first
  std::map<Key, bool> marked_;
  std::optional<Key> hand_;
};

class Naive2q : public NaiveRoom {
 public:
  Naive2q(double in, double out) : in_share_(in), out_share_(out) {}

  void accessed(Key key, const Request&) override {
    if (has(hot_, key)) to_back(hot_, key);
    if (has(hot_, key) || has(in_, key)) return;
    came(in_.size() + hot_.size() + 1);
    (take(out_, key) ? hot_ : in_).push_back(key);
    while (out_.size() > part(out_share_)) out_.pop_front();
  }
  void removed(Key key, Left why) override {
    if (why == Left::dropped) take(out_, key);
    if (take(in_, key) && why == Left::evicted) out_.push_back(key);
    take(hot_, key);
  }
  std::optional<Key> victim(const MayEvict& may) override {
    wanted(in_.size() + hot_.size());
    return in_.size() > part(in_share_) ? first_in(in_, hot_, may) : first_in(hot_, in_, may);
  }

 private:
  double in_share_, out_share_;
  Row in_, hot_, out_;
};

class NaiveSlru : public NaiveRoom {
 public:
  NaiveSlru(bool where_room_is, std::size_t segments, double probation)
      : where_room_is_(where_room_is), probation_(probation), segments_(segments) {}

  void accessed(Key key, const Request&) override {
    for (std::size_t s = 0; s < segments_.size(); ++s) {
      if (!take(segments_[s], key)) continue;
      segments_[std::min(s + 1, segments_.size() - 1)].push_back(key);
      return fall();
    }
    came(resident() + 1);
    fall();
    std::size_t s = 0;
    while (where_room_is_ && s < segments_.size() && segments_[s].size() >= most(s)) ++s;
    segments_[s % segments_.size()].push_back(key);
  }
  void removed(Key key, Left) override {
    for (Row& segment : segments_) take(segment, key);
  }
  std::optional<Key> victim(const MayEvict& may) override {
    wanted(resident());
    fall();
    for (const Row& segment : segments_)
      if (const auto key = first_in(segment, may)) return key;
    return std::nullopt;
  }

  void resize(std::uint64_t capacity) override {
    NaiveRoom::resize(capacity);
    fall();
  }

 private:
  void fall() {
    for (std::size_t over = segments_.size() - 1; over > 0; --over)
      while (segments_[over].size() > most(over)) {
        segments_[over - 1].push_back(segments_[over].front());
        segments_[over].pop_front();
      }
  }
  std::size_t resident() const {
    std::size_t n = 0;
    for (const Row& segment : segments_) n += segment.size();
    return n;
  }
  // Upper segments share alike what the lowest leaves; it has one chunk at least, and they after
  // it.
  std::size_t most(std::size_t s) const {
    if (s > 0 && s >= fit()) return 0;
    if (s > 0) return part((1 - probation_) / static_cast<double>(segments_.size() - 1));
    std::size_t above = 0;
    for (std::size_t u = 1; u < segments_.size(); ++u) above += most(u);
    return above < fit() ? fit() - above : 1;
  }

  bool where_room_is_;
  double probation_;
  std::vector<Row> segments_;
};

class NaiveS3Fifo : public NaiveRoom {
 public:
  NaiveS3Fifo(bool by_small, int promote) : by_small_(by_small), promote_(promote) {}

  void accessed(Key key, const Request&) override {
    if (has(small_, key) || has(main_, key)) {
      hits_[key] = std::min(hits_[key] + 1, 3);
      return;
    }
    came(small_.size() + main_.size() + 1);
    (take(ghosts_, key) ? main_ : small_).push_back(key);
    hits_[key] = 0;
    forget();
  }
  void removed(Key key, Left why) override {
    if (why == Left::dropped) take(ghosts_, key);
    if (take(small_, key) && why == Left::evicted) ghosts_.push_back(key);
    if (by_small_) forget();
    take(main_, key);
  }
  std::optional<Key> victim(const MayEvict& may) override {
    wanted(small_.size() + main_.size());
    const std::size_t main_share = std::max<std::size_t>(1, fit() - part(0.1));
    bool small = by_small_ ? small_.size() >= part(0.1) || main_.empty()
                           : main_.size() <= main_share && !small_.empty();
    for (;;) {
      const auto key = small ? first_in(small_, main_, may) : first_in(main_, small_, may);
      if (!key) return key;
      if (has(main_, *key)) {
        if (hits_[*key]-- == 0) return hits_[*key] = 0, key;
        to_back(main_, *key);
        continue;
      }
      if (hits_[*key] < promote_) return key;
      hits_[*key] = 0;
      take(small_, *key);
      main_.push_back(*key);
      if (small_.empty() || (by_small_ && main_.size() > main_share)) small = false;
    }
  }

 private:
  void forget() {
    while (ghosts_.size() > part(0.9)) ghosts_.pop_front();
  }

  bool by_small_;
  int promote_;
  Row small_, main_, ghosts_;
  std::map<Key, int> hits_;
};

}  // namespace holdall
