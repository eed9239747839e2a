#include "engine/shadows.hpp"

#include <algorithm>
#include <bit>

#include "policies/registry.hpp"
#include "policies/shadow.hpp"

namespace holdall {

namespace {

constexpr std::uint64_t chunks_a_shadow = 256;  // that it should hold, so that the sample is fair

}  // namespace

Shadows::Shadows(const std::string& policies, std::uint64_t capacity) : capacity_(capacity) {
  for (const std::string& policy : split_policies(policies))
    tracks_.push_back(
        {policy, std::make_unique<policies::Shadow>(make_policy(policy), capacity), 0});
}

Shadows::~Shadows() = default;

// The sample is chosen once, by the first chunk's size.
bool Shadows::is_sampled(Key chunk, std::uint64_t bytes) {
  if (rate_ == 0) {
    rate_ = std::bit_floor(std::max<std::uint64_t>(
        capacity_ / std::max<std::uint64_t>(bytes, 1) / chunks_a_shadow, 1));
    resize(capacity_);
  }
  return policies::sampled(chunk, rate_);
}

void Shadows::show(Key chunk, const Request& request, const MayEvict& may) {
  for (Track& track : tracks_)
    track.misses += track.shadow->request(chunk, request, may) && !request.prefetch;
}

void Shadows::drop(Key chunk) {
  if (rate_ == 0 || !policies::sampled(chunk, rate_)) return;
  for (Track& track : tracks_) track.shadow->drop(chunk);
}

void Shadows::hinted(Key chunk, std::uint64_t next_use) {
  if (rate_ != 0 && !policies::sampled(chunk, rate_)) return;
  for (Track& track : tracks_) track.shadow->hinted(chunk, next_use);
}

void Shadows::resize(std::uint64_t capacity) {
  capacity_ = capacity;
  for (Track& track : tracks_) track.shadow->resize(capacity / std::max<std::uint64_t>(rate_, 1));
}

// A sample that happens to have the busiest chunk, or not to, says little of hits: so its misses
// are scaled, and the rest of all requests are hits (SHARDS-adj; Waldspurger, Park, Garthwaite and
// Ahmad, "Efficient MRC construction with SHARDS", FAST 2015).
std::vector<ShadowStats> Shadows::stats() const {
  std::vector<ShadowStats> all;
  for (const Track& track : tracks_) {
    const std::uint64_t faults =
        std::min(requests_, track.misses * std::max<std::uint64_t>(rate_, 1));
    all.push_back({track.policy, requests_ - faults, faults});
  }
  return all;
}

}  // namespace holdall
