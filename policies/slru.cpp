// SLRU: LRU in segments, one above the other. A hit lifts a chunk to the end of the next segment;
// what a segment has too many of falls to the end of the one below; victims come from the lowest.
// Karedla, Love and Wherry, "Caching strategies to improve disk system performance", Computer
// 27(3), 1994, with two segments, probation and protected; Huang et al., "An analysis of Facebook
// photo caching", SOSP 2013, with four.
//   variant=lcs|caffeine   a newcomer enters the lowest segment that has room (lcs), or always the
//                          lowest (caffeine) (lcs)
//   segments=N             1 to 64 (lcs: 4; caffeine: 2)
//   probation=F            share of the lowest segment; the others have equal parts of the rest
//                          (lcs: 1 / segments; caffeine: 0.2)
// What rounding leaves over is the lowest segment's.
#include <algorithm>
#include <array>
#include <vector>

#include "policies/built_in.hpp"
#include "policies/queues.hpp"
#include "policies/room.hpp"

namespace holdall::policies {

namespace {

class Slru final : public UsesKnown<Slru> {
 public:
  Slru(bool where_room_is, std::size_t segments, double probation)
      : where_room_is_(where_room_is), probation_(probation), segments_(segments), most_(segments) {
    share();
  }

  void removed(Key chunk, Left) override {
    const Index i = chunks_.find_offered(chunk);
    if (i == none) return;
    segments_[chunks_[i].segment].erase(chunks_, i);
    --resident_;
    chunks_.drop(i);
  }

  std::optional<Key> victim(const MayEvict& may) override {
    room_.pressed(resident_);
    share();
    for (Queue& segment : segments_)
      if (const Index i = segment.probable(chunks_, may); i != none) return chunks_.offer(i);
    for (Queue& segment : segments_)
      if (const Index i = segment.remaining(chunks_, may); i != none) return chunks_.offer(i);
    return std::nullopt;
  }

  void resize(std::uint64_t capacity) override {
    room_.resize(capacity);
    share();
  }

 private:
  friend UsesKnown<Slru>;

  struct Node : Link {
    Key key;
    std::uint32_t segment;
  };

  // Shares the room out anew if it has changed. The lowest segment has one chunk at least, then the
  // next, and so on.
  void share() {
    const std::size_t fit = room_.chunks(), upper = segments_.size() - 1;
    if (fit == shared_) return;
    shared_ = fit;
    most_[0] = fit;
    for (std::size_t s = 1; s <= upper; ++s) {
      const double part = (1 - probation_) / static_cast<double>(upper);
      most_[s] = std::min(s < fit ? room_.part(part) : 0, most_[0] - 1);
      most_[0] -= most_[s];
    }
    fall(upper);
  }
  // Lets down what the segments up to `top` have too many of.
  void fall(std::size_t top) {
    for (std::size_t over = top; over > 0; --over)
      while (segments_[over].size() > most_[over]) {
        const Index falls = segments_[over].front();
        segments_[over].erase(chunks_, falls);
        enter(over - 1, falls);
      }
  }

  void use(Key chunk, Index i, const Request& request) {
    if (i == none) {
      room_.inserted(request.bytes, ++resident_);
      share();
      std::size_t s = 0;
      if (where_room_is_)
        while (s < segments_.size() && segments_[s].size() >= most_[s]) ++s;
      enter(s < segments_.size() ? s : 0, chunks_.add({{}, chunk, 0}));
      return;
    }
    const std::size_t s = chunks_[i].segment;
    if (s + 1 == segments_.size()) return segments_[s].move_to_back(chunks_, i);
    segments_[s].erase(chunks_, i);
    enter(s + 1, i);
    fall(s + 1);
  }
  void enter(std::size_t s, Index i) {
    chunks_[i].segment = static_cast<std::uint32_t>(s);
    segments_[s].push_back(chunks_, i);
  }

  const bool where_room_is_;
  const double probation_;
  std::size_t resident_ = 0;
  Room room_;
  Known<Node> chunks_;
  std::vector<Queue> segments_;    // lowest first, each least recently used first
  std::vector<std::size_t> most_;  // chunks that each may have
  std::size_t shared_ = 0;         // room for so many chunks has been shared out
};

}  // namespace

std::unique_ptr<Policy> make_slru(Parameters& parameters) {
  constexpr std::array<std::string_view, 2> variants = {"lcs", "caffeine"};
  const bool lcs = parameters.choice("variant", "lcs", variants) == "lcs";
  const std::size_t segments = parameters.count("segments", lcs ? 4 : 2, 1, 64);
  const double probation =
      parameters.number("probation", lcs ? 1.0 / static_cast<double>(segments) : 0.2, 0, 1);
  return std::make_unique<Slru>(lcs, segments, probation);
}

}  // namespace holdall::policies
