#include "apps/policy/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "apps/policy/error.hpp"
#include "policies/registry.hpp"

namespace holdall::lab {

Replay::Replay(const std::string& policy, const ReplayOptions& options)
    : Replay(policy, make_policy(policy), options) {}

Replay::Replay(const std::string& name, std::unique_ptr<Policy> policy,
               const ReplayOptions& options)
    : name_(name), options_(options), policy_(std::move(policy)) {
  policy_->resize(options.capacity);
}

void Replay::feed(const Requests& requests) {
  grow(requests);
  const bool sizes = options_.sizes && !requests.bytes.empty();
  const bool kinds = !requests.kinds.empty(), next_uses = !requests.next_uses.empty();
  if (sizes)
    kinds       ? next_uses ? run<true, true, true>(requests) : run<true, true, false>(requests)
          : next_uses ? run<true, false, true>(requests)
                : run<true, false, false>(requests);
  else
    kinds       ? next_uses ? run<false, true, true>(requests) : run<false, true, false>(requests)
          : next_uses ? run<false, false, true>(requests)
                : run<false, false, false>(requests);
}

template <bool sizes, bool kinds, bool next_uses>
void Replay::run(const Requests& requests) {
  Policy& policy = *policy_;
  const Id* const ids = requests.ids.data();
  std::uint8_t* const state = state_.data();
  std::uint64_t hits = 0, demanded = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (i % few == 0) expect(requests.ids.subspan(i, std::min(few, requests.size() - i)));
    const Id id = ids[i];
    Request request;
    std::uint8_t kind = trace_read;
    if constexpr (sizes) request.bytes = requests.bytes.data()[i];
    if constexpr (next_uses)
      if (const RequestNumber next = requests.next_uses.data()[i]; next != never_used)
        request.next_use = next;
    if constexpr (kinds) {
      kind = requests.kinds.data()[i];
      request.write = kind == trace_write || kind == trace_overwrite;
      request.prefetch = kind == trace_prefetch;
      if (kind == trace_hint) {
        policy.hinted(Key{id}, request.next_use);
        continue;
      }
      if (kind == trace_remove) {
        if (!state[id]) continue;
        policy.removed(Key{id}, Left::dropped);
        used_ -= sizes ? bytes_[id] : 1;
        state[id] = 0;
        ++counts_.removed;
        continue;
      }
    }
    demanded += kind != trace_prefetch;
    if (state[id]) {
      hits += kind != trace_prefetch;
      if (request.write) state[id] |= dirty;
      policy.accessed(Key{id}, request);
      if constexpr (sizes) {
        if (bytes_[id] == request.bytes) continue;
        used_ += request.bytes -
                 bytes_[id];  // one that grew may push others out, itself if it is too big
        bytes_[id] = request.bytes;
        make_room<sizes>(0, request.bytes <= options_.capacity ? id : ~Id{0});
      }
      continue;
    }
    bring_in<sizes>(id, request, kind != trace_overwrite);
  }
  counts_.requests += demanded;
  counts_.hits += hits;
  counts_.misses = counts_.requests - counts_.hits;
}

// The misses of the processor's cache that so many requests make overlap.
void Replay::expect(std::span<const Id> ids) {
  std::array<Key, few> keys;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    __builtin_prefetch(state_.data() + ids[i]);
    keys[i] = Key{ids[i]};
  }
  policy_->expect(std::span(keys).first(ids.size()));
}

template <bool sizes>
bool Replay::bring_in(Id id, const Request& request, bool read) {
  const std::uint64_t cost = sizes ? request.bytes : 1,
                      bytes = sizes ? request.bytes : options_.chunk;
  const bool fits = cost <= options_.capacity;
  const bool enters = fits && policy_->admit(Key{id}, request) && make_room<sizes>(cost, ~Id{0});
  if (!enters) {
    if (request.prefetch) return false;
    ++counts_.refused;  // read and written where it lies
    if (read) counts_.bytes_in += bytes;
    if (request.write) counts_.bytes_out += bytes;
    return false;
  }
  policy_->inserted(Key{id}, request);
  state_.data()[id] = request.write ? resident | dirty : resident;
  if constexpr (sizes) bytes_[id] = cost;
  used_ += cost;
  ++counts_.chunks_in;
  counts_.prefetched += request.prefetch;
  if (read) counts_.bytes_in += bytes;
  return true;
}

// For `bytes` more, all but `newcomer` may leave. False if the policy will not have it.
template <bool sizes>
bool Replay::make_room(std::uint64_t bytes, Id newcomer) {
  while (used_ + bytes > options_.capacity) {
    const auto may = [newcomer](Key key) { return key != Key{newcomer}; };
    const std::optional<Key> victim = policy_->victim(may);
    if (!victim) return false;
    const auto out = static_cast<std::uint64_t>(*victim);
    if (out >= state_.size() || !state_.data()[out] || out == newcomer) wrong_victim(out);
    policy_->removed(*victim, Left::evicted);
    ++counts_.evictions;
    const std::uint64_t size = sizes ? bytes_[out] : 1;
    if (state_.data()[out] & dirty) {
      ++counts_.write_backs;
      counts_.bytes_out += sizes ? size : options_.chunk;
    }
    state_.data()[out] = 0;
    used_ -= size;
  }
  return true;
}

void Replay::grow(const Requests& requests) {
  if (requests.ids.empty()) return;
  Id largest = 0;
  for (const Id id : requests.ids) largest = std::max(largest, id);
  const std::size_t distinct = std::size_t{largest} + 1;
  if (distinct <= state_.size()) return;
  state_.resize(distinct);
  if (options_.sizes) bytes_.resize(distinct);
}

void Replay::wrong_victim(std::uint64_t victim) const {
  throw LabError(
      fmt::format("policy '{}' names chunk {} for eviction, which is not resident or may not "
                  "leave: it is wrong",
                  name_, victim));
}

Counts replay(const Requests& requests, const std::string& policy, const ReplayOptions& options) {
  Replay replay(policy, options);
  replay.feed(requests);
  return replay.counts();
}

}  // namespace holdall::lab
