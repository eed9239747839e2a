#include "apps/policy/prefetching.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "policies/prefetch.hpp"
#include "policies/registry.hpp"

namespace holdall::lab {

namespace {

// The chunks that replays number, by their own numbers, where neighbours are.
class Places {
 public:
  explicit Places(const std::vector<std::uint64_t>& keys) {
    std::vector<Id> ids(keys.size());
    numbering_.number(keys, ids.data());
    for (const std::uint64_t key : keys) {
      const auto [at, first] = ranges_.try_emplace(key >> 40, KeyRange{Key{key}, 1});
      KeyRange& range = at->second;
      const auto least = static_cast<std::uint64_t>(range.first);
      if (first) continue;
      const std::uint64_t begin = std::min(least, key),
                          end = std::max(least + range.count, key + 1);
      range = {Key{begin}, end - begin};
    }
  }

  Key key(Id id) const { return Key{numbering_.keys()[id]}; }
  Id id(Key key) {  // a new one if no request asks for it
    const auto number = static_cast<std::uint64_t>(key);
    Id id = 0;
    numbering_.number({&number, 1}, &id);
    return id;
  }
  const KeyRange& range(Key key) const {
    return ranges_.find(static_cast<std::uint64_t>(key) >> 40)->second;
  }

 private:
  Numbering numbering_;
  std::unordered_map<std::uint64_t, KeyRange> ranges_;
};

// A policy beside which a prefetcher hears what comes and leaves.
class Overheard final : public Policy {
 public:
  Overheard(std::unique_ptr<Policy> policy, Prefetch& prefetch, const Places& places)
      : policy_(std::move(policy)), prefetch_(prefetch), places_(places) {}

  bool admit(Key chunk, const Request& request) override { return policy_->admit(chunk, request); }
  void inserted(Key chunk, const Request& request) override {
    policy_->inserted(chunk, request);
    const Key key = place(chunk);
    prefetch_.inserted(key, places_.range(key));
  }
  void accessed(Key chunk, const Request& request) override { policy_->accessed(chunk, request); }
  void removed(Key chunk, Left why) override {
    policy_->removed(chunk, why);
    const Key key = place(chunk);
    prefetch_.removed(key, places_.range(key));
  }
  std::optional<Key> victim(const MayEvict& may) override { return policy_->victim(may); }
  void hinted(Key chunk, std::uint64_t next_use) override { policy_->hinted(chunk, next_use); }
  void resize(std::uint64_t capacity) override { policy_->resize(capacity); }

 private:
  Key place(Key chunk) const { return places_.key(static_cast<Id>(chunk)); }

  std::unique_ptr<Policy> policy_;
  Prefetch& prefetch_;
  const Places& places_;
};

}  // namespace

Counts replay_prefetching(const Trace& trace, const std::string& policy,
                          const std::string& prefetch, const ReplayOptions& options) {
  const auto prefetcher = make_prefetch(prefetch);
  Places places(trace.keys);
  Replay replay(policy, std::make_unique<Overheard>(make_policy(policy), *prefetcher, places),
                options);
  const Requests all = trace.requests();
  const auto one = [](auto column, std::size_t i) {
    return column.empty() ? column : column.subspan(i, 1);
  };
  const std::uint8_t kind = trace_prefetch;
  std::vector<Key> wanted;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Id id = all.ids[i];
    const bool resident = replay.holds(id);
    replay.feed({one(all.ids, i), one(all.kinds, i), one(all.bytes, i), one(all.next_uses, i)});
    if (!all.kinds.empty() && all.kinds[i] > trace_overwrite) continue;
    const Key key = places.key(id);
    wanted.clear();
    prefetcher->requested(key, places.range(key), resident, wanted);
    for (const Key other : wanted)
      if (const Id it = places.id(other); !replay.holds(it))
        replay.feed({{&it, 1}, {&kind, 1}, one(all.bytes, i), {}});
  }
  return replay.counts();
}

}  // namespace holdall::lab
