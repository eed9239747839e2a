// GDSF, greedy dual by size and frequency: priority = L + uses * cost / bytes. Cherkasova,
// "Improving WWW proxies performance with greedy-dual-size-frequency caching policy", HP Labs
// HPL-98-69R1, 1998. Here a chunk's cost is what its absence costs: one fetch, and one write-back
// if it is dirty.
//   fetch=X, write=X   what they cost (1, 1); only their ratio matters where all chunks are equal
//   per=byte|chunk     `byte`: the cost is for every byte, so that the size cancels; `chunk`: small
//                      chunks stay rather than large ones (chunk)
//   variant=textbook|webcachesim|caffeine   (textbook); webcachesim counts a hit from the next hit
//                      on; caffeine does not admit a newcomer that would be the first to go, and
//                      takes the least key among equals instead of the longest unused
// Which chunks are clean is known by their requests alone: a chunk counts as dirty until it leaves.
#include <array>

#include "policies/built_in.hpp"
#include "policies/greedy_dual.hpp"

namespace holdall::policies {

std::unique_ptr<Policy> make_gdsf(Parameters& parameters) {
  constexpr std::array<std::string_view, 3> variants = {"textbook", "webcachesim", "caffeine"};
  constexpr std::array<std::string_view, 2> units = {"byte", "chunk"};
  const std::string variant = parameters.choice("variant", "textbook", variants);
  return std::make_unique<GreedyDual>(GreedyDualRules{
      .fetch = parameters.number("fetch", 1, 1e-9, 1e9),
      .write_back = parameters.number("write", 1, 0, 1e9),
      .by_size = parameters.choice("per", "chunk", units) == "chunk",
      .counts_late = variant == "webcachesim",
      .bypass = variant == "caffeine",
  });
}

}  // namespace holdall::policies
