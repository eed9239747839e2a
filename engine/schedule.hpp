// The order in which chunks will be leased, as far as it was declared, for policies that look
// ahead. The pager's own.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>

#include "policies/policy.hpp"

namespace holdall {

class Schedule {
 public:
  // The next use declared is of `chunk`. Its number.
  std::uint64_t append(Key chunk) {
    uses_[chunk].push_back(end_);
    return end_++;
  }

  // The chunk was leased: the number of its next declared use, Request::never if there is none.
  std::uint64_t use(Key chunk) {
    if (uses_.empty()) return Request::never;
    const auto found = uses_.find(chunk);
    if (found == uses_.end()) return Request::never;
    std::deque<std::uint64_t>& left = found->second;
    now_ = left.front() + 1;
    left.pop_front();
    if (!left.empty()) return left.front();
    uses_.erase(found);
    return Request::never;
  }

  std::uint64_t next_use(Key chunk) const {
    const auto found = uses_.find(chunk);
    return found == uses_.end() ? Request::never : found->second.front();
  }
  std::uint64_t now() const { return now_; }  // the number of the use that is due

  // Calls f(chunk) for each chunk that has uses left, and forgets them.
  template <class F>
  void clear(F f) {
    for (const auto& [chunk, left] : uses_) f(chunk);
    uses_.clear();
    now_ = end_;
  }

 private:
  std::unordered_map<Key, std::deque<std::uint64_t>> uses_;  // that are left, in order
  std::uint64_t now_ = 0, end_ = 0;
};

}  // namespace holdall
