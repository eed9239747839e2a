// S3-FIFO: three queues and no order of use. Newcomers enter a small queue; those used more than
// once by its end go on to the main queue, the others leave and are remembered. A chunk that is
// asked for while remembered enters the main queue at once; at the end of that, a chunk that was
// used goes round again. Yang, Zhang, Qiu, Yue and Rashmi, "FIFO queues are all you need for cache
// eviction", SOSP 2023.
//   variant=lcs|caffeine   victims come from the main queue if it is above its share, else from the
//                          small one (lcs); or from the small queue if it has its share, else from
//                          the main one, and a new ghost drives out the oldest even if that is the
//                          chunk asked for (caffeine) (lcs)
//   small=F                share of the small queue; the main queue has the rest (0.1)
//   ghost=F                chunks remembered, as a share of those that fit (0.9)
//   promote=N              hits that take a chunk from the small queue to the main one (2)
// Hits are counted to 3. A chunk that may not be evicted keeps its place, and the queue goes on as
// if it were not there.
#include <algorithm>
#include <array>

#include "policies/built_in.hpp"
#include "policies/queues.hpp"
#include "policies/room.hpp"

namespace holdall::policies {

namespace {

class S3Fifo final : public UsesKnown<S3Fifo> {
 public:
  struct Options {
    bool by_small;  // the small queue's length decides where victims come from
    double small, ghost;
    unsigned promote;
  };
  explicit S3Fifo(const Options& options) : options_(options) {}

  void removed(Key chunk, Left why) override {
    const Index i = chunks_.find_offered(chunk);
    if (i == none) return;
    Node& node = chunks_[i];
    if (node.where == Where::small) {
      small_.erase(chunks_, i);
      if (why == Left::evicted) {
        node.where = Where::ghost;
        ghosts_.push_back(chunks_, i);
        if (options_.by_small) trim();
        return;
      }
    } else if (node.where == Where::main) {
      main_.erase(chunks_, i);
    } else {
      if (why == Left::evicted) return;
      ghosts_.erase(chunks_, i);
    }
    chunks_.drop(i);
  }

  std::optional<Key> victim(const MayEvict& may) override {
    room_.pressed(small_.size() + main_.size());
    bool small = from_small();
    for (;;) {
      const Index i =
          small ? first_of(chunks_, may, small_, main_) : first_of(chunks_, may, main_, small_);
      if (i == none) return std::nullopt;
      Node& node = chunks_[i];
      if (node.where == Where::main) {
        if (node.hits == 0) return chunks_.offer(i);
        --node.hits;
        main_.move_to_back(chunks_, i);
        continue;
      }
      if (node.hits < options_.promote) return chunks_.offer(i);
      node.hits = 0;
      node.where = Where::main;
      small_.erase(chunks_, i);
      main_.push_back(chunks_, i);
      // The reference drops one from the main queue as soon as it is over its share.
      if (small_.empty() || (options_.by_small && main_.size() > main_share())) small = false;
    }
  }
  void expect(std::span<const Key> chunks) override { chunks_.prefetch(chunks); }

  void resize(std::uint64_t capacity) override { room_.resize(capacity); }

 private:
  friend UsesKnown<S3Fifo>;

  enum class Where : std::uint8_t { small, main, ghost };
  struct Node : Link {
    Key key;
    Where where;
    std::uint8_t hits;
  };
  static constexpr std::uint8_t most_hits = 3;

  std::size_t main_share() const {
    return std::max<std::size_t>(1, room_.chunks() - room_.part(options_.small));
  }
  bool from_small() const {
    if (small_.empty() || main_.empty()) return main_.empty();
    return options_.by_small ? small_.size() >= room_.part(options_.small)
                             : main_.size() <= main_share();
  }

  void use(Key chunk, Index i, const Request& request) {
    if (i != none && chunks_[i].where != Where::ghost) {
      if (chunks_[i].hits < most_hits) ++chunks_[i].hits;
      return;
    }
    room_.inserted(request.bytes, small_.size() + main_.size() + 1);
    if (i == none) {
      small_.push_back(chunks_, chunks_.add({{}, chunk, Where::small, 0}));
    } else {
      ghosts_.erase(chunks_, i);
      chunks_[i].where = Where::main;
      chunks_[i].hits = 0;
      main_.push_back(chunks_, i);
    }
    trim();
  }

  // Before or after a ghost that is asked for has left: the variants differ.
  void trim() {
    for (const std::size_t most = room_.part(options_.ghost); ghosts_.size() > most;) {
      const Index oldest = ghosts_.front();
      ghosts_.erase(chunks_, oldest);
      chunks_.drop(oldest);
    }
  }

  const Options options_;
  Room room_;
  Known<Node> chunks_;
  Queue small_, main_;
  Ghosts ghosts_;
};

}  // namespace

std::unique_ptr<Policy> make_s3fifo(Parameters& parameters) {
  constexpr std::array<std::string_view, 2> variants = {"lcs", "caffeine"};
  S3Fifo::Options options{};
  options.by_small = parameters.choice("variant", "lcs", variants) == "caffeine";
  options.small = parameters.number("small", 0.1, 0, 1);
  options.ghost = parameters.number("ghost", 0.9, 0, 100);
  options.promote = static_cast<unsigned>(parameters.count("promote", 2, 1, 3));
  return std::make_unique<S3Fifo>(options);
}

}  // namespace holdall::policies
