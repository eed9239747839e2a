// The curve of opt. The stack has the memory of capacity c in its first c places. A use takes its
// chunk to the top; each memory that lacked the chunk evicts, of what the next smaller one gave up
// and what it had alone, the one needed later: so the old top sinks to the first place whose chunk
// is needed later than it, that chunk sinks on in its turn, and the last one fills the place that
// the used chunk left. Finding those places is O(log n) each.
#include <algorithm>
#include <vector>

#include "apps/policy/curve.hpp"
#include "apps/policy/demands.hpp"
#include "apps/policy/error.hpp"

namespace holdall::lab {

namespace {

// Numbers by place; finds the first greater one behind a place. Each level has the largest of every
// `fan` of the one below.
class Largest {
 public:
  explicit Largest(std::size_t places) {
    do {
      places = places / fan + 1;
      levels_.emplace_back(places * fan);
    } while (places > 1);
  }

  RequestNumber operator[](std::size_t at) const { return levels_[0].data()[at]; }

  void set(std::size_t at, RequestNumber number) {
    levels_[0].data()[at] = number;
    for (std::size_t level = 1; level < levels_.size(); ++level) {
      at /= fan;
      const RequestNumber* const children = levels_[level - 1].data() + at * fan;
      const RequestNumber largest = *std::max_element(children, children + fan);
      if (levels_[level].data()[at] == largest) return;
      levels_[level].data()[at] = largest;
    }
  }

  // The first place from `at` on that has a number above `number`; `end` or more if there is none
  // before that.
  std::size_t above(std::size_t at, std::size_t end, RequestNumber number) const {
    std::size_t level = 0, reach = 1;
    for (;;) {  // up, where all of the siblings that are left are too small
      const RequestNumber* const numbers = levels_[level].data();
      for (; numbers[at] <= number; ++at)
        if ((at + 1) % fan == 0 || (at + 1) * reach >= end) break;
      if (numbers[at] > number) break;
      if ((at + 1) * reach >= end || level + 1 == levels_.size()) return end;
      at = at / fan + 1;
      reach *= fan;
      if (at * reach >= end) return end;
      ++level;
    }
    while (level > 0) {  // and down
      --level;
      at *= fan;
      while (levels_[level].data()[at] <= number) ++at;
    }
    return at;
  }

 private:
  static constexpr std::size_t fan = 16;
  std::vector<std::vector<RequestNumber>> levels_;
};

}  // namespace

std::vector<RequestNumber> next_demands(const Requests& requests, std::size_t distinct) {
  if (requests.size() >= never_used)
    throw LabError("more than 4,294,967,294 requests: opt cannot see that far; sample the trace");
  std::vector<RequestNumber> next(requests.size(), never_used), last(distinct, never_used);
  for (std::size_t i = requests.size(); i-- > 0;) {
    if (!demands(requests, i)) continue;
    RequestNumber& after = last.data()[requests.ids.data()[i]];
    next.data()[i] = after;
    after = static_cast<RequestNumber>(i);
  }
  return next;
}

Curve opt_curve(const Requests& requests, std::size_t distinct) {
  const std::vector<RequestNumber> next = next_demands(requests, distinct);
  std::vector<std::uint32_t> place(distinct);  // from 1; 0: not used yet
  std::vector<Id> chunk_at(distinct + 1);
  Largest next_at(distinct + 1);
  Curve curve;
  curve.hits.resize(distinct + 1);
  std::uint32_t used = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!demands(requests, i)) continue;
    ++curve.requests;
    const Id id = requests.ids.data()[i];
    ++curve.hits.data()[place.data()[id]];
    const std::uint32_t left = place.data()[id] ? place.data()[id] : ++used;
    if (left > 1) {
      Id sinking = chunk_at.data()[1];
      RequestNumber needed = next_at[1];
      for (std::size_t at = next_at.above(2, left, needed); at < left;
           at = next_at.above(at + 1, left, needed)) {
        const RequestNumber later = next_at[at];
        place.data()[sinking] = static_cast<std::uint32_t>(at);
        std::swap(sinking, chunk_at.data()[at]);
        next_at.set(at, needed);
        needed = later;
      }
      place.data()[sinking] = left;
      chunk_at.data()[left] = sinking;
      next_at.set(left, needed);
    }
    place.data()[id] = 1;
    chunk_at.data()[1] = id;
    next_at.set(1, next.data()[i]);
  }
  curve.hits[0] = 0;
  for (std::size_t c = 1; c <= distinct; ++c) curve.hits[c] += curve.hits[c - 1];
  return curve;
}

}  // namespace holdall::lab
