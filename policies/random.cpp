// Random: evicts any chunk, each with the same chance. Belady, "A study of replacement algorithms
// for a virtual-storage computer", IBM Systems Journal 5(2), 1966: the yardstick of every other.
//   seed=N   of the generator (0); the same calls with the same seed give the same victims
#include <random>
#include <utility>

#include "policies/built_in.hpp"
#include "policies/slab.hpp"

namespace holdall::policies {

namespace {

class Random final : public Policy {
 public:
  explicit Random(std::uint64_t seed) : generator_(seed) {}

  void inserted(Key chunk, const Request&) override {
    if (chunks_.find(chunk) != none) return;
    row_.push_back(chunks_.add({chunk, static_cast<Index>(row_.size())}));
  }
  void accessed(Key chunk, const Request& request) override { inserted(chunk, request); }

  void removed(Key chunk, Left) override {
    const Index i = chunks_.find(chunk);
    if (i == none) return;
    swap(chunks_[i].place, row_.size() - 1);
    row_.pop_back();
    chunks_.drop(i);
  }

  // Draws without putting back: those refused gather at the front of the row.
  std::optional<Key> victim(const MayEvict& may) override {
    for (std::size_t refused = 0; refused < row_.size(); ++refused) {
      const std::size_t drawn = refused + generator_() % (row_.size() - refused);
      const Key key = chunks_[row_[drawn]].key;
      if (may(key)) return key;
      swap(refused, drawn);
    }
    return std::nullopt;
  }
  void expect(std::span<const Key> chunks) override { chunks_.prefetch(chunks); }

 private:
  struct Node {
    Key key;
    Index place;  // in row_
  };

  void swap(std::size_t a, std::size_t b) {
    std::swap(row_[a], row_[b]);
    chunks_[row_[a]].place = static_cast<Index>(a);
    chunks_[row_[b]].place = static_cast<Index>(b);
  }

  std::mt19937_64 generator_;
  Chunks<Node> chunks_;
  std::vector<Index> row_;  // every chunk once, in no order
};

}  // namespace

std::unique_ptr<Policy> make_random(Parameters& parameters) {
  return std::make_unique<Random>(parameters.count("seed", 0, 0, ~std::uint64_t{0}));
}

}  // namespace holdall::policies
