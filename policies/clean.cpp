// Clean first: asks another policy for its next few victims, and evicts the first of them that need
// not be written back; the very first if all are dirty. The clean-first LRU of Park, Jung, Kang,
// Kim and Lee, "CFLRU: a replacement algorithm for flash memory", CASES 2006, around any policy.
//   of=SPEC     the policy: of=lru, of=(slru:protected=0.8,variant=caffeine) (lru)
//   among=K     how many of its next victims are looked at (8)
// Which chunks are dirty is known by their requests alone: from a write on, until they leave.
#include <algorithm>

#include "policies/built_in.hpp"
#include "policies/slab.hpp"

namespace holdall::policies {

namespace {

class Clean final : public Policy {
 public:
  Clean(std::unique_ptr<Policy> of, std::uint64_t among) : of_(std::move(of)), among_(among) {
    passed_.reserve(among);
  }

  bool admit(Key chunk, const Request& request) override { return of_->admit(chunk, request); }
  void inserted(Key chunk, const Request& request) override {
    note(chunk, request);
    of_->inserted(chunk, request);
  }
  void accessed(Key chunk, const Request& request) override {
    note(chunk, request);
    of_->accessed(chunk, request);
  }
  void removed(Key chunk, Left why) override {
    if (const Index i = dirty_.find(chunk); i != none) dirty_.drop(i);
    of_->removed(chunk, why);
  }
  void hinted(Key chunk, std::uint64_t next_use) override { of_->hinted(chunk, next_use); }
  void resize(std::uint64_t capacity) override { of_->resize(capacity); }
  void expect(std::span<const Key> chunks) override { of_->expect(chunks); }

  std::optional<Key> victim(const MayEvict& may) override {
    passed_.clear();
    const auto others = [&](Key key) {
      return std::find(passed_.begin(), passed_.end(), key) == passed_.end() && may(key);
    };
    while (passed_.size() < among_) {
      const std::optional<Key> next = of_->victim(others);
      if (!next) break;
      if (dirty_.find(*next) == none) return next;
      passed_.push_back(*next);
    }
    return passed_.empty() ? std::nullopt : std::optional(passed_.front());
  }

 private:
  struct Node {
    Key key;
  };

  void note(Key chunk, const Request& request) {
    if (request.write && dirty_.find(chunk) == none) dirty_.add({chunk});
  }

  std::unique_ptr<Policy> of_;
  const std::uint64_t among_;
  Chunks<Node> dirty_;
  std::vector<Key> passed_;
};

}  // namespace

std::unique_ptr<Policy> make_clean(Parameters& parameters) {
  auto of = make_policy(parameters.text("of", "lru"));
  return std::make_unique<Clean>(std::move(of), parameters.count("among", 8, 1, 1024));
}

}  // namespace holdall::policies
