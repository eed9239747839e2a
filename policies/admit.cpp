// Admit: an admission in front of another policy (policies/admission.hpp). While there is room,
// only the policy is asked; then the admission is told which chunk would go next.
//   by=SPEC   the admission: always, tinylfu, bypass, or one of your own (tinylfu)
//   of=SPEC   the policy (lru)
#include <algorithm>

#include "policies/admission.hpp"
#include "policies/built_in.hpp"
#include "policies/slab.hpp"

namespace holdall {

namespace {

using policies::Index;
using policies::none;

class Admit final : public Policy {
 public:
  Admit(std::unique_ptr<Admission> by, std::unique_ptr<Policy> of)
      : by_(std::move(by)), of_(std::move(of)) {}

  bool admit(Key chunk, const Request& request) override {
    asks_ = true;
    use(chunk, request);
    const bool its = of_->admit(chunk, request);
    std::optional<Key> victim;
    if (by_->weighs() && capacity_ > 0 && used_ + request.bytes > capacity_)
      victim = of_->victim([](Key) { return true; });
    return by_->admit(chunk, request, victim) && its;
  }
  void inserted(Key chunk, const Request& request) override {
    const Index i = chunks_.find(chunk);
    if (i == none) {
      chunks_.add({chunk, request.bytes});
      used_ += request.bytes;
    }
    if (i != none || !asks_) use(chunk, request);
    of_->inserted(chunk, request);
  }
  void accessed(Key chunk, const Request& request) override {
    if (chunks_.find(chunk) == none) return inserted(chunk, request);
    use(chunk, request);
    of_->accessed(chunk, request);
  }
  void removed(Key chunk, Left why) override {
    if (const Index i = chunks_.find(chunk); i != none) {
      used_ -= chunks_[i].bytes;
      chunks_.drop(i);
    }
    of_->removed(chunk, why);
  }
  std::optional<Key> victim(const MayEvict& may) override { return of_->victim(may); }
  void hinted(Key chunk, std::uint64_t next_use) override { of_->hinted(chunk, next_use); }
  void expect(std::span<const Key> chunks) override {
    chunks_.prefetch_places(chunks);
    of_->expect(chunks);
  }
  void resize(std::uint64_t capacity) override {
    capacity_ = capacity;
    told_ = 0;
    of_->resize(capacity);
  }

 private:
  struct Node {
    Key key;
    std::uint64_t bytes;
  };

  void use(Key chunk, const Request& request) {
    const std::uint64_t fit = std::max<std::uint64_t>(
        chunks_.size(), capacity_ / std::max<std::uint64_t>(request.bytes, 1));
    if (fit > told_) by_->resize(told_ = told_ == 0 ? fit : 2 * fit);
    by_->used(chunk, request);
  }

  std::unique_ptr<Admission> by_;
  std::unique_ptr<Policy> of_;
  bool asks_ = false;                      // the caller asks `admit`
  std::uint64_t capacity_ = 0, used_ = 0;  // in the unit of Request::bytes
  std::uint64_t told_ = 0;                 // chunks that fit, as the admission knows
  policies::Chunks<Node> chunks_;
};

}  // namespace

std::unique_ptr<Policy> with_admission(std::unique_ptr<Admission> admission,
                                       std::unique_ptr<Policy> policy) {
  return std::make_unique<Admit>(std::move(admission), std::move(policy));
}

namespace policies {

std::unique_ptr<Policy> make_admit(Parameters& parameters) {
  auto by = make_admission(parameters.text("by", "tinylfu"));
  return with_admission(std::move(by), make_policy(parameters.text("of", "lru")));
}

}  // namespace policies

}  // namespace holdall
