// LFUDA, least frequently used with dynamic ageing: a chunk's priority is its uses since it came
// in, plus the age of the memory when it was last used; the age is the priority of the last victim.
// Arlitt, Cherkasova, Dilley, Friedrich and Jin, "Evaluating content management techniques for web
// proxy caches", WISP 1999. Among equals the one longest unused goes first.
//   variant=textbook|webcachesim   (textbook); webcachesim counts a hit from the next hit on
#include <array>

#include "policies/built_in.hpp"
#include "policies/greedy_dual.hpp"

namespace holdall::policies {

std::unique_ptr<Policy> make_lfuda(Parameters& parameters) {
  constexpr std::array<std::string_view, 2> variants = {"textbook", "webcachesim"};
  const bool late = parameters.choice("variant", "textbook", variants) == "webcachesim";
  return std::make_unique<GreedyDual>(GreedyDualRules{.counts_late = late});
}

}  // namespace holdall::policies
