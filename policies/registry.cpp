#include "policies/registry.hpp"

#include <mutex>
#include <utility>

#include "policies/built_in.hpp"
#include "policies/words.hpp"

namespace holdall {

namespace {

struct Entry {
  std::string summary;
  PolicyMaker maker;
};

struct Registry {
  std::mutex mutex;  // guards entries
  std::map<std::string, Entry, std::less<>> entries = {
      {"2q", {"newcomers' queue, then least recent of the hot; in=F, out=F", policies::make_2q}},
      {"arc", {"adapts to recency and frequency; variant=real|integer", policies::make_arc}},
      {"car", {"arc with clocks", policies::make_car}},
      {"clock",
       {"second chance; bits=N: width of the use count (1), variant=lcs|caffeine",
        policies::make_clock}},
      {"clockpro", {"lirs with clocks; least=F, most=F, ghost=F", policies::make_clockpro}},
      {"fifo", {"longest resident", policies::make_fifo}},
      {"lfu",
       {"fewest uses; halflife=N: halve the counts every N uses (never)", policies::make_lfu}},
      {"lirs",
       {"longest time between the last two uses; hir=F, variant=lcs|caffeine",
        policies::make_lirs}},
      {"lru", {"longest unused", policies::make_lru}},
      {"lruk",
       {"longest since the K-th last use; k=N (2), correlated=N, retained=N", policies::make_lruk}},
      {"mru", {"used last", policies::make_mru}},
      {"random", {"any; seed=N (0)", policies::make_random}},
      {"s3fifo",
       {"first in, first out in two queues; small=F, ghost=F, promote=N, variant=lcs|caffeine",
        policies::make_s3fifo}},
      {"sieve", {"oldest that was not used since the hand passed", policies::make_sieve}},
      {"slru",
       {"segments of least recent; segments=N, probation=F, variant=lcs|caffeine",
        policies::make_slru}},
      {"admit",
       {"whatever another policy does, of what an admission lets in; by=SPEC (tinylfu), of=SPEC "
        "(lru)",
        policies::make_admit}},
      {"auto",
       {"follows the best of a few, tried on a sample; among=A+B+..., sample=N (1024), margin=X "
        "(0.03), memory=X (16)",
        policies::make_auto}},
      {"clean",
       {"a clean chunk among the next few victims of another; of=SPEC (lru), among=K (8)",
        policies::make_clean}},
      {"gdsf",
       {"least uses times cost over size, aged; fetch=X (1), write=X (1), per=byte|chunk (chunk), "
        "variant=textbook|webcachesim|caffeine",
        policies::make_gdsf}},
      {"hyperbolic",
       {"least uses over age, of a sample; samples=N (64), seed=N (0)", policies::make_hyperbolic}},
      {"lfuda",
       {"fewest uses, aged by what is evicted; variant=textbook|webcachesim",
        policies::make_lfuda}},
      {"mglru",
       {"oldest generation by access bits; generations=N (4), every=N: uses from scan to scan (as "
        "many as chunks)",
        policies::make_mglru}},
      {"opt", {"needed last, by the next uses it is told; bypass=B (false)", policies::make_opt}},
      {"uvm",
       {"longest without a migration, as NVIDIA's driver; block=N chunks (1)", policies::make_uvm}},
      {"wtinylfu",
       {"least asked for of a window and a segmented LRU; window=X (0.01), protected=X (0.8), "
        "climb=B (false), seed=N (0)",
        policies::make_wtinylfu}},
  };
};

Registry& registry() {
  static Registry all;
  return all;
}

// A copy, so that it is called with the registry unlocked.
PolicyMaker maker_of(std::string_view name) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  if (const auto entry = all.entries.find(name); entry != all.entries.end())
    return entry->second.maker;
  std::vector<std::string> names;
  for (const auto& entry : all.entries) names.push_back(entry.first);
  throw PolicyError(policies::unknown("policy", name, names, "There are"));
}

}  // namespace

std::unique_ptr<Policy> make_policy(std::string_view spec) {
  const std::size_t colon = spec.find(':');
  const std::string_view name = spec.substr(0, colon);
  const PolicyMaker maker = maker_of(name);
  try {
    Parameters parameters(colon == spec.npos ? "" : spec.substr(colon + 1));
    std::unique_ptr<Policy> policy = maker(parameters);
    if (const auto unread = parameters.unread(); !unread.empty())
      throw PolicyError(
          policies::unknown("parameter", unread.front(), parameters.known(), "It takes"));
    if (policy == nullptr) throw PolicyError("its maker made nothing");
    return policy;
  } catch (const PolicyError& error) {
    throw PolicyError("policy " + policies::in_quotes(spec) + ": " + error.what());
  }
}

std::vector<std::string> split_policies(std::string_view list) {
  std::vector<std::string> policies;
  while (true) {
    const std::size_t comma = list.find(',');
    const std::string_view word = list.substr(0, comma);
    const bool parameter = word.find('=') < word.find(':');
    if (parameter && !policies.empty())
      policies.back().append(",").append(word);
    else
      policies.emplace_back(word);
    if (comma == list.npos) return policies;
    list.remove_prefix(comma + 1);
  }
}

bool can_name_policy(std::string_view name) {
  return !name.empty() && name.find_first_of(":=,+() \t\n") == name.npos;
}

void register_policy(const PolicyInfo& info, PolicyMaker maker) {
  if (!can_name_policy(info.name))
    throw PolicyError(policies::in_quotes(info.name) +
                      " cannot name a policy: leave out colons, commas, equals signs, pluses, "
                      "parentheses and spaces");
  if (!maker) throw PolicyError("policy " + policies::in_quotes(info.name) + " has no maker");
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.entries.insert_or_assign(info.name, Entry{info.summary, std::move(maker)});
}

std::vector<PolicyInfo> list_policies() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  std::vector<PolicyInfo> infos;
  for (const auto& [name, entry] : all.entries) infos.push_back({name, entry.summary});
  return infos;
}

}  // namespace holdall
