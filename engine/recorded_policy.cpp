#include "engine/recorded_policy.hpp"

#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "engine/access_log.hpp"

namespace holdall {

namespace {

class RecordedPolicy final : public Policy {
 public:
  RecordedPolicy(std::unique_ptr<Policy> policy, TraceWriter& writer, int device)
      : policy_(std::move(policy)), writer_(writer), device_(static_cast<std::uint16_t>(device)) {}

  bool admit(Key chunk, const Request& request) override {
    write(trace_ask, chunk, request.bytes,
          static_cast<std::uint8_t>((request.write ? 1 : 0) | (request.prefetch ? 2 : 0)));
    return policy_->admit(chunk, request);
  }
  void inserted(Key chunk, const Request& request) override { policy_->inserted(chunk, request); }
  void accessed(Key chunk, const Request& request) override { policy_->accessed(chunk, request); }
  void removed(Key chunk, Left why) override {
    held_.erase(chunk);
    write(why == Left::dropped ? trace_remove : trace_evict, chunk, 0, 0);
    policy_->removed(chunk, why);
  }

  // What may be evicted is written where it differs from what was written last. Others pin chunks
  // meanwhile; within the call an answer stands, so that the re-enacted policy hears the same.
  std::optional<Key> victim(const MayEvict& may) override {
    answers_.clear();
    const std::optional<Key> victim = policy_->victim([&](Key chunk) {
      const auto [answer, is_new] = answers_.try_emplace(chunk, false);
      if (!is_new) return answer->second;
      answer->second = may(chunk);
      if (answer->second ? held_.erase(chunk) > 0 : held_.insert(chunk).second)
        write(answer->second ? trace_free : trace_held, chunk, 0, 0);
      return answer->second;
    });
    write(trace_victim, victim.value_or(Key{0}), 0, victim ? 1 : 0);
    return victim;
  }
  void hinted(Key chunk, std::uint64_t next_use) override {
    write(trace_told, chunk, 0, 0, next_use);
    policy_->hinted(chunk, next_use);
  }
  void expect(std::span<const Key> chunks) override { policy_->expect(chunks); }
  void resize(std::uint64_t capacity) override {
    write(trace_budget, Key{0}, capacity, 0);
    policy_->resize(capacity);
  }

 private:
  void write(TraceKind kind, Key chunk, std::uint64_t bytes, std::uint8_t outcome,
             std::uint64_t next_use = Request::never) {
    const auto value = static_cast<std::uint64_t>(chunk);
    writer_.append({static_cast<std::uint64_t>(now_ns()), value & ((std::uint64_t{1} << 40) - 1),
                    bytes, 0, next_use, static_cast<std::uint32_t>(value >> 40), device_, kind,
                    outcome});
  }

  std::unique_ptr<Policy> policy_;
  TraceWriter& writer_;
  const std::uint16_t device_;
  std::unordered_set<Key> held_;           // written as such
  std::unordered_map<Key, bool> answers_;  // of this call
};

}  // namespace

std::unique_ptr<Policy> record_policy(std::unique_ptr<Policy> policy, TraceWriter& writer,
                                      int device) {
  return std::make_unique<RecordedPolicy>(std::move(policy), writer, device);
}

}  // namespace holdall
