// 2Q: newcomers pass through a short queue; only one that is asked for again soon after it left
// that queue is taken for hot and kept in order of last use. Johnson and Shasha, "2Q: a low
// overhead high performance buffer management replacement algorithm", VLDB 1994 (the full version).
//   in=F    share of the newcomers' queue A1in (0.25)
//   out=F   chunks remembered after they left it, A1out, as a share of those that fit (0.5)
// A hit in A1in does nothing: uses close together count as one. Chunks evicted from Am, the hot,
// are not remembered. A sweep through more than fits passes through A1in and leaves Am alone.
#include "policies/built_in.hpp"
#include "policies/queues.hpp"
#include "policies/room.hpp"

namespace holdall::policies {

namespace {

class TwoQueue final : public UsesKnown<TwoQueue> {
 public:
  TwoQueue(double in, double out) : in_share_(in), out_share_(out) {}

  void removed(Key chunk, Left why) override {
    const Index i = chunks_.find_offered(chunk);
    if (i == none) return;
    Node& node = chunks_[i];
    if (node.where == Where::in) {
      in_.erase(chunks_, i);
      if (why == Left::evicted) {
        node.where = Where::out;
        out_.push_back(chunks_, i);
        return;
      }
    } else if (node.where == Where::hot) {
      hot_.erase(chunks_, i);
    } else {
      if (why == Left::evicted) return;
      out_.erase(chunks_, i);
    }
    chunks_.drop(i);
  }

  std::optional<Key> victim(const MayEvict& may) override {
    room_.pressed(in_.size() + hot_.size());
    const bool newcomer = in_.size() > room_.part(in_share_);
    const Index i =
        newcomer ? first_of(chunks_, may, in_, hot_) : first_of(chunks_, may, hot_, in_);
    return i == none ? std::nullopt : std::optional(chunks_.offer(i));
  }

  void resize(std::uint64_t capacity) override { room_.resize(capacity); }

 private:
  friend UsesKnown<TwoQueue>;

  enum class Where : std::uint8_t { in, hot, out };
  struct Node : Link {
    Key key;
    Where where;
  };

  void use(Key chunk, Index i, const Request& request) {
    if (i != none && chunks_[i].where != Where::out) {
      if (chunks_[i].where == Where::hot) hot_.move_to_back(chunks_, i);
      return;
    }
    room_.inserted(request.bytes, in_.size() + hot_.size() + 1);
    if (i == none) {
      in_.push_back(chunks_, chunks_.add({{}, chunk, Where::in}));
    } else {
      out_.erase(chunks_, i);
      chunks_[i].where = Where::hot;
      hot_.push_back(chunks_, i);
    }
    for (const std::size_t most = room_.part(out_share_); out_.size() > most;) {
      const Index oldest = out_.front();
      out_.erase(chunks_, oldest);
      chunks_.drop(oldest);
    }
  }

  const double in_share_, out_share_;
  Room room_;
  Known<Node> chunks_;
  Queue in_, hot_;
  Ghosts out_;
};

}  // namespace

std::unique_ptr<Policy> make_2q(Parameters& parameters) {
  const double in = parameters.number("in", 0.25, 0, 1);
  const double out = parameters.number("out", 0.5, 0, 100);
  return std::make_unique<TwoQueue>(in, out);
}

}  // namespace holdall::policies
