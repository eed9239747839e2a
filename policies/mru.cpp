// MRU: evicts the chunk that was used last. The best there is on a cyclic sweep, where that chunk
// is needed again latest of all: Chou and DeWitt, "An evaluation of buffer management strategies
// for relational database systems", VLDB 1985. No parameters.
// A search steps over the newest chunks that are in use, one by one.
#include "policies/built_in.hpp"
#include "policies/recency.hpp"

namespace holdall::policies {

namespace {

class Mru final : public Recency<Mru, List> {
 public:
  std::optional<Key> victim(const MayEvict& may) override {
    for (Index i = order_.back(); i != none; i = chunks_[i].prev)
      if (may(chunks_[i].key)) return chunks_.offer(i);
    return std::nullopt;
  }
};

}  // namespace

std::unique_ptr<Policy> make_mru(Parameters&) { return std::make_unique<Mru>(); }

}  // namespace holdall::policies
