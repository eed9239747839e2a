// An eviction policy of one's own, as a plug-in: copy this file and change the class.
//
//   c++ -std=c++20 -O2 -shared -fPIC my_policy.cpp -o my_policy.so $(pkg-config --cflags --libs
//   holdall)
//
// It evicts the chunk that came longest ago, but spares each for as many more turns as it was hit,
// at most `spare=N` (1). What a policy must do, and what its hooks mean, is in policies/policy.hpp.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>

#include "policies/plugin_policy.hpp"

namespace {

class MyPolicy final : public holdall::Policy {
 public:
  explicit MyPolicy(holdall::Parameters& parameters)
      : spare_(parameters.count("spare", 1, 0, 1000)) {}

  void inserted(holdall::Key chunk, const holdall::Request& request) override {
    if (find(chunk) != queue_.end()) return accessed(chunk, request);
    queue_.push_back({chunk, 0});
  }

  void accessed(holdall::Key chunk, const holdall::Request& request) override {
    const auto c = find(chunk);
    if (c == queue_.end()) return inserted(chunk, request);
    c->turns = std::min(c->turns + 1, spare_);
  }

  void removed(holdall::Key chunk, holdall::Left) override {
    if (const auto c = find(chunk); c != queue_.end()) queue_.erase(c);
  }

  std::optional<holdall::Key> victim(const holdall::MayEvict& may) override {
    for (std::size_t passed = 0; passed < queue_.size(); ++passed) {  // those that may not go
      while (queue_.front().turns > 0) {
        --queue_.front().turns;
        to_back();
        passed = 0;
      }
      if (may(queue_.front().key)) return queue_.front().key;
      to_back();
    }
    return std::nullopt;
  }

 private:
  struct Chunk {
    holdall::Key key;
    std::uint64_t turns;
  };

  std::deque<Chunk>::iterator find(holdall::Key chunk) {
    return std::find_if(queue_.begin(), queue_.end(),
                        [&](const Chunk& c) { return c.key == chunk; });
  }
  void to_back() {
    queue_.push_back(queue_.front());
    queue_.pop_front();
  }

  const std::uint64_t spare_;
  std::deque<Chunk> queue_;  // next to go first
};

}  // namespace

const holdall_plugin_description* holdall_plugin() {
  return holdall::plugin<MyPolicy>("my-policy", "came longest ago, hits spare it; spare=N (1)");
}
