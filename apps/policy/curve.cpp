#include "apps/policy/curve.hpp"

#include <algorithm>
#include <cmath>

#include "apps/policy/bit_tree.hpp"
#include "apps/policy/demands.hpp"

namespace holdall::lab {

namespace {

// The distance of a use is how many chunks were used since the last use of the same, itself
// included: the smallest lru memory in which it hits. 0: the first use.
class LruDistances {
 public:
  explicit LruDistances(std::size_t distinct)
      : window_(std::max<std::size_t>(4 * distinct, 4096)),
        set_(window_),
        at_(window_),
        last_(distinct, none) {}

  std::size_t use(Id id) {
    if (now_ == window_) pack();
    std::uint32_t& last = last_.data()[id];
    std::size_t distance = 0;
    if (last == none) {
      ++live_;
    } else {
      distance = live_ - set_.below(last);
      set_.erase(last);
    }
    set_.insert(now_);
    at_.data()[now_] = id;
    last = static_cast<std::uint32_t>(now_++);
    return distance;
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  // Times begin again, at the number of live chunks.
  void pack() {
    std::size_t to = 0;
    CountingSet packed(window_);
    for (std::size_t i = 0; i < window_; ++i) {
      const Id id = at_[i];
      if (last_[id] != i) continue;
      last_[id] = static_cast<std::uint32_t>(to);
      at_[to] = id;
      packed.insert(to++);
    }
    set_ = std::move(packed);
    now_ = to;
  }

  const std::size_t window_;
  CountingSet set_;                  // the times that are a chunk's last use
  std::vector<Id> at_;               // which was used then
  std::vector<std::uint32_t> last_;  // by id
  std::size_t now_ = 0, live_ = 0;
};

// From how many hits there are at each distance to how many there are up to it.
Curve summed(std::vector<std::uint64_t> at_distance, std::uint64_t requests) {
  at_distance[0] = 0;
  for (std::size_t c = 1; c < at_distance.size(); ++c) at_distance[c] += at_distance[c - 1];
  return {requests, std::move(at_distance)};
}

std::uint64_t mixed(std::uint64_t key) {
  key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9;
  key = (key ^ (key >> 27)) * 0x94d049bb133111eb;
  return key ^ (key >> 31);
}

}  // namespace

Curve lru_curve(const Requests& requests, std::size_t distinct) {
  LruDistances distances(distinct);
  std::vector<std::uint64_t> hits(distinct + 1);
  std::uint64_t uses = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!demands(requests, i)) continue;
    ++uses;
    ++hits.data()[distances.use(requests.ids.data()[i])];
  }
  return summed(std::move(hits), uses);
}

// The stack has the memory of capacity c in its first c places. A use takes its chunk to the top;
// what was on top, the most recently used, is the one that every memory without the chunk evicts,
// so it comes to where the chunk was.
Curve mru_curve(const Requests& requests, std::size_t distinct) {
  std::vector<std::uint32_t> place(distinct);  // from 1; 0: not used yet
  std::vector<std::uint64_t> hits(distinct + 1);
  std::uint64_t uses = 0;
  std::uint32_t used = 0;
  Id top = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!demands(requests, i)) continue;
    const Id id = requests.ids.data()[i];
    ++hits.data()[place.data()[id]];
    if (uses++ > 0 && top != id) place.data()[top] = place.data()[id] ? place.data()[id] : ++used;
    if (used == 0) used = 1;
    place.data()[id] = 1;
    top = id;
  }
  return summed(std::move(hits), uses);
}

std::vector<SampledPoint> sampled_lru_curve(const Trace& trace, double rate,
                                            const std::vector<std::uint64_t>& capacities) {
  constexpr std::size_t groups = 16;
  const Requests requests = trace.requests();
  const auto below = static_cast<std::uint64_t>(rate * 0x1p32);

  // 1. which chunks are in the sample, each in a group
  std::vector<std::uint8_t> group(trace.distinct(), groups);
  for (std::size_t id = 0; id < trace.distinct(); ++id) {
    const std::uint64_t hash = mixed(trace.keys[id]);
    if (hash >> 32 < below) group[id] = hash % groups;
  }
  std::uint64_t uses = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) uses += demands(requests, i);

  // 2. a curve of each group, of the whole sample last
  std::vector<Curve> curves;
  for (std::size_t g = 0; g <= groups; ++g) {
    std::vector<Id> ids, number(trace.distinct(), ~Id{0});
    Id distinct = 0;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const Id id = requests.ids[i];
      if (!demands(requests, i) || group[id] == groups || (g < groups && group[id] != g)) continue;
      if (number[id] == ~Id{0}) number[id] = distinct++;
      ids.push_back(number[id]);
    }
    curves.push_back(lru_curve({.ids = ids, .kinds = {}, .bytes = {}, .next_uses = {}}, distinct));
  }

  // 3. A sample at rate r of a memory of c is a memory of r c. It should have had r of the
  // requests: what it has more or less is taken for hits at once.
  const auto ratio = [&](const Curve& curve, double r, std::uint64_t capacity) {
    const double expected = r * static_cast<double>(uses);
    const double scaled = r * static_cast<double>(capacity);
    const auto low = static_cast<std::uint64_t>(scaled);
    const double part = scaled - std::floor(scaled);
    const double misses = static_cast<double>(curve.misses(low)) * (1 - part) +
                          static_cast<double>(curve.misses(low + 1)) * part;
    return std::clamp(misses / expected, 0.0, 1.0);
  };
  std::vector<SampledPoint> points;
  for (const std::uint64_t capacity : capacities) {
    double sum = 0, squares = 0;
    for (std::size_t g = 0; g < groups; ++g) {
      const double m = ratio(curves[g], rate / groups, capacity);
      sum += m;
      squares += m * m;
    }
    const double variance = std::max(0.0, (squares - sum * sum / groups) / (groups - 1));
    points.push_back(
        {capacity, ratio(curves[groups], rate, capacity), std::sqrt(variance / groups)});
  }
  return points;
}

// Who is resident is known by when it is needed next, and a request at time t is a hit if t is in
// that set. Chunks never needed again go first: they are only counted.
std::uint64_t opt_misses(const Requests& requests, std::uint64_t capacity, bool bypass) {
  OrderedSet needed(requests.size());
  std::uint64_t useless = 0, resident = 0, misses = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!demands(requests, i)) continue;
    const RequestNumber next = requests.next_uses.data()[i];
    if (needed.contains(i)) {
      needed.erase(i);
      --resident;
    } else {
      ++misses;
      if (capacity == 0) continue;
      if (resident == capacity) {
        if (useless > 0 && !(bypass && next == never_used)) {
          --useless, --resident;
        } else if (bypass && (next == never_used || (useless == 0 && next > needed.largest()))) {
          continue;
        } else {
          needed.erase(needed.largest());
          --resident;
        }
      }
    }
    ++resident;
    if (next == never_used)
      ++useless;
    else
      needed.insert(next);
  }
  return misses;
}

}  // namespace holdall::lab
