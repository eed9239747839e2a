// W-TinyLFU: newcomers pass through a small LRU window; what falls out of it enters the main part,
// a segmented LRU, only if it was asked for more often than the chunk that would have to go.
// Einziger, Friedman and Manes, "TinyLFU: a highly efficient cache admission policy", TOS 13(4),
// 2017; the climbing window: Einziger, Eytan, Friedman and Manes, "Adaptive software cache
// management", Middleware 2018. Both as in Caffeine's simulator, count by count, with
// seed=1033096058.
//   window=X      part of the memory that is the window (0.01); at least one chunk
//   protected=X   part of the main part that is for chunks used twice (0.8)
//   climb=B       moves the border of the window to where the hits are (false)
//   seed=N        of the draw that lets a warm loser in, 1 in 128 (0)
// The parts are counted in chunks. A use is counted in `admit` and `accessed`; by a caller that
// never asks `admit`, in `inserted`.
#include "policies/built_in.hpp"
#include "policies/climber.hpp"
#include "policies/order.hpp"
#include "policies/slab.hpp"
#include "policies/tiny_lfu.hpp"

namespace holdall::policies {

namespace {

struct Shares {
  double window, protected_part;
  bool climb;
  std::uint64_t seed;
};

class WTinyLfu final : public Policy {
 public:
  explicit WTinyLfu(const Shares& shares) : shares_(shares), filter_(shares.seed) {}

  bool admit(Key chunk, const Request& request) override {
    fit(request.bytes);
    asks_ = true;
    full_ = chunks_.size() >= room_;
    filter_.used(chunk);
    if (most_window_ > 0 || !full_) return true;
    const Index rival = part_[probation].front();
    if (rival != none && filter_.prefers(chunk, chunks_[rival].key)) return true;
    climb(false);
    return false;
  }

  void inserted(Key chunk, const Request& request) override {
    fit(request.bytes);
    if (const Index i = chunks_.find(chunk); i != none) return hit(i);
    if (!asks_) filter_.used(chunk);
    enter(chunks_.add({{}, chunk, window}), window);
    window_size_ += 1;
    if (chunks_.size() > room_) fit_to(chunks_.size());
    while (size_[window] > most_window_) {
      move(part_[window].front(), probation);
      window_size_ -= 1;
    }
    climb(false);
    full_ = false;
  }
  void accessed(Key chunk, const Request& request) override { inserted(chunk, request); }

  void removed(Key chunk, Left why) override {
    const Index i = chunks_.find(chunk);
    if (i == none) return;
    if (!asks_ && why == Left::evicted) full_ = true;
    if (chunks_[i].in == window) window_size_ -= 1;
    leave(i);
    chunks_.drop(i);
  }

  std::optional<Key> victim(const MayEvict& may) override {
    if (chunks_.size() + room_ / 8 < room_) fit_to(chunks_.size());
    // 1. If the newcomer will push one out of the window: the better of that and the main part's
    // next one stays.
    const bool pushed = size_[window] > 0 && size_[window] >= most_window_;
    const Index candidate = pushed ? part_[window].probable(chunks_, may) : none;
    const Index rival = part_[probation].probable(chunks_, may);
    if (candidate != none && rival != none) {
      const bool stays = filter_.prefers(chunks_[candidate].key, chunks_[rival].key);
      return chunks_[stays ? rival : candidate].key;
    }
    // 2. Otherwise whatever may go.
    for (const Index i : {candidate, rival})
      if (i != none) return chunks_[i].key;
    for (EvictionOrder* part : {&part_[protected_part], &part_[window]})
      if (const Index i = part->probable(chunks_, may); i != none) return chunks_[i].key;
    for (EvictionOrder& part : part_)
      if (const Index i = part.remaining(chunks_, may); i != none) return chunks_[i].key;
    return std::nullopt;
  }
  void expect(std::span<const Key> chunks) override {
    filter_.prefetch(chunks);
    chunks_.prefetch_links(chunks);
  }

  void resize(std::uint64_t capacity) override {
    capacity_ = capacity;
    fitted_ = false;
  }

 private:
  enum Part : std::uint8_t { window, probation, protected_part };
  struct Node : Link {
    Node(Link link, Key k, Part part) : Link(link), key(k), in(part) {}
    Key key;
    Part in;
  };

  void enter(Index i, Part to) {
    chunks_[i].in = to;
    part_[to].push_back(chunks_, i);
    ++size_[to];
  }
  void leave(Index i) {
    part_[chunks_[i].in].erase(chunks_, i);
    --size_[chunks_[i].in];
  }
  void move(Index i, Part to) {
    leave(i);
    enter(i, to);
  }

  void hit(Index i) {
    full_ = chunks_.size() >= room_;
    filter_.used(chunks_[i].key);
    move(i, chunks_[i].in == window || most_protected_ == 0 ? chunks_[i].in : protected_part);
    demote();
    climb(true);
    full_ = false;
  }
  void demote() {
    while (size_[protected_part] > most_protected_) move(part_[protected_part].front(), probation);
  }

  // The parts for so many chunks as fit, by the size of the first that is asked for.
  void fit(std::uint64_t bytes) {
    if (fitted_) return;
    fitted_ = true;
    fit_to(std::max<std::uint64_t>(
        {1, chunks_.size(), capacity_ / std::max<std::uint64_t>(bytes, 1)}));
  }
  void fit_to(std::uint64_t room) {
    room_ = std::max<std::uint64_t>(room, 1);
    const auto main = static_cast<std::uint64_t>(static_cast<double>(room_) * (1 - shares_.window));
    most_window_ = std::max<std::uint64_t>(room_ - main, 1);
    most_protected_ = static_cast<std::uint64_t>(static_cast<double>(room_ - most_window_) *
                                                 shares_.protected_part);
    filter_.reserve(room_);
    climber_ = Climber(room_);
    window_size_ = static_cast<double>(size_[window]);
    demote();
  }

  void climb(bool was_hit) {
    if (!shares_.climb || !full_) return;
    const double by = climber_.step(was_hit);
    if (by > 0) widen(std::min(by, static_cast<double>(most_protected_)));
    if (by < 0) narrow(std::min(-by, static_cast<double>(most_window_)));
  }
  // The window takes and gives whole chunks; what is left of a chunk stands in window_size_.
  void widen(double by) {
    const auto before = static_cast<std::uint64_t>(window_size_);
    window_size_ += by;
    for (auto steps = static_cast<std::uint64_t>(window_size_) - before; steps > 0; --steps) {
      ++most_window_;
      --most_protected_;
      demote();
      if (const Index i = part_[probation].front(); i != none)
        move(i, window);
      else
        window_size_ -= 1;
    }
  }
  void narrow(double by) {
    const auto before = static_cast<std::uint64_t>(window_size_);
    window_size_ = std::max(window_size_ - by, 0.0);
    for (auto steps = before - static_cast<std::uint64_t>(window_size_); steps > 0; --steps) {
      --most_window_;
      ++most_protected_;
      const Index i = part_[window].front();
      if (i == none) continue;
      leave(i);
      chunks_[i].in = probation;
      part_[probation].push_front(chunks_, i);
      ++size_[probation];
    }
  }

  const Shares shares_;
  TinyLfu filter_;
  Climber climber_;
  std::uint64_t capacity_ = 0;
  bool fitted_ = false;
  std::uint64_t room_ = 0;  // chunks that fit
  std::uint64_t most_window_ = 0, most_protected_ = 0;
  double window_size_ = 0;
  bool asks_ = false;  // the caller asks `admit`
  bool full_ = false;  // the memory was, at this request
  Chunks<Node> chunks_;
  EvictionOrder part_[3];  // longest unused first
  std::uint64_t size_[3] = {};
};

}  // namespace

std::unique_ptr<Policy> make_wtinylfu(Parameters& parameters) {
  return std::make_unique<WTinyLfu>(Shares{
      .window = parameters.number("window", 0.01, 0, 1),
      .protected_part = parameters.number("protected", 0.8, 0, 1),
      .climb = parameters.flag("climb", false),
      .seed = parameters.count("seed", 0, 0, ~std::uint64_t{0}),
  });
}

}  // namespace holdall::policies
