// holdall policy replay --live: recordings of the engine, re-enacted.
#include <fmt/format.h>

#include "apps/policy/reenact.hpp"
#include "apps/policy_commands.hpp"

namespace holdall::apps {

int replay_live(const std::string& path, const std::vector<std::string>& policies, bool json) {
  Progress progress("re-enacting " + path);
  nlohmann::json all = nlohmann::json::array();
  int status = 0;
  const std::vector<std::string> recorded{""};
  for (const std::string& policy : policies.empty() ? recorded : policies) {
    const lab::Reenactment again = lab::reenact(path, policy);
    const bool same = policy.empty() || policy == again.recording.policy;
    all.push_back({{"policy", policy.empty() ? again.recording.policy : policy},
                   {"recorded", again.recording.policy},
                   {"memory", again.recording.budgets.front()},
                   {"hits", again.hits},
                   {"faults", again.faults},
                   {"prefetched", again.prefetched},
                   {"evictions", again.evictions},
                   {"victims", again.victims},
                   {"agreed", again.agreed}});
    if (again.agreed == again.victims) continue;
    const std::string text = fmt::format("{}: '{}' names other victims than the engine's: {}", path,
                                         all.back()["policy"].get<std::string>(), again.differed);
    if (!same) {
      if (!json) note(text);
      continue;
    }
    tell("holdall: {}\n", text);
    status = failed;
  }
  if (json) {
    fmt::print("{}\n", all.size() == 1 ? all[0].dump() : all.dump());
    return status;
  }
  fmt::print("{:<20}{:>10}{:>10}{:>12}{:>10}{:>10}{:>10}\n", "policy", "hits", "faults",
             "prefetched", "evicted", "victims", "agreed");
  for (const auto& run : all)
    fmt::print("{:<20}{:>10}{:>10}{:>12}{:>10}{:>10}{:>10}\n", run["policy"].get<std::string>(),
               run["hits"].get<std::uint64_t>(), run["faults"].get<std::uint64_t>(),
               run["prefetched"].get<std::uint64_t>(), run["evictions"].get<std::uint64_t>(),
               run["victims"].get<std::uint64_t>(), run["agreed"].get<std::uint64_t>());
  return status;
}

}  // namespace holdall::apps
