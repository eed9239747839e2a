// Hyperbolic caching: a chunk's priority is its uses over the time since it came in; the least of a
// random sample goes. It needs no order of all chunks, and forgives a newcomer its few uses.
// Blankstein, Sen and Freedman, "Hyperbolic caching: flexible caching for web applications", USENIX
// ATC 2017.
//   samples=N   chunks looked at for a victim (64); all where there are no more than that
//   seed=N      of the sample (0)
// Time is counted in uses. Among equals the one that came first goes. Chunks that may not go do not
// count as samples, but no more than N are drawn once one has been found that may.
#include <random>
#include <utility>

#include "policies/built_in.hpp"
#include "policies/slab.hpp"

namespace holdall::policies {

namespace {

class Hyperbolic final : public Policy {
 public:
  Hyperbolic(std::uint64_t samples, std::uint64_t seed) : samples_(samples), generator_(seed) {}

  void inserted(Key chunk, const Request&) override {
    ++now_;
    if (const Index i = chunks_.find(chunk); i != none)
      ++chunks_[i].uses;
    else
      row_.push_back(chunks_.add({chunk, static_cast<Index>(row_.size()), now_, 1}));
  }
  void accessed(Key chunk, const Request& request) override { inserted(chunk, request); }

  void removed(Key chunk, Left) override {
    const Index i = chunks_.find(chunk);
    if (i == none) return;
    swap(chunks_[i].place, row_.size() - 1);
    row_.pop_back();
    chunks_.drop(i);
  }

  // Draws without putting back: those drawn gather at the front of the row.
  std::optional<Key> victim(const MayEvict& may) override {
    Index least = none;
    for (std::size_t drawn = 0; drawn < row_.size(); ++drawn) {
      if (drawn >= samples_ && least != none) break;
      swap(drawn, drawn + generator_() % (row_.size() - drawn));
      const Index i = row_[drawn];
      if ((least == none || before(chunks_[i], chunks_[least])) && may(chunks_[i].key)) least = i;
    }
    return least == none ? std::nullopt : std::optional(chunks_[least].key);
  }
  void expect(std::span<const Key> chunks) override { chunks_.prefetch(chunks); }

 private:
  struct Node {
    Key key;
    Index place;  // in row_
    std::uint64_t came;
    std::uint64_t uses;
  };

  // uses / age, without a rounding; the newcomer of this moment has age 1.
  bool before(const Node& a, const Node& b) const {
    const std::uint64_t left = a.uses * (now_ - b.came + 1);
    const std::uint64_t right = b.uses * (now_ - a.came + 1);
    return left != right ? left < right : a.came < b.came;
  }

  void swap(std::size_t a, std::size_t b) {
    std::swap(row_[a], row_[b]);
    chunks_[row_[a]].place = static_cast<Index>(a);
    chunks_[row_[b]].place = static_cast<Index>(b);
  }

  const std::uint64_t samples_;
  std::mt19937_64 generator_;
  std::uint64_t now_ = 0;
  Chunks<Node> chunks_;
  std::vector<Index> row_;  // every chunk once, in no order
};

}  // namespace

std::unique_ptr<Policy> make_hyperbolic(Parameters& parameters) {
  return std::make_unique<Hyperbolic>(parameters.count("samples", 64, 1, 1'000'000),
                                      parameters.count("seed", 0, 0, ~std::uint64_t{0}));
}

}  // namespace holdall::policies
