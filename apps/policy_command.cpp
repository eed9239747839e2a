// holdall policy: list; the other sub-commands are in policy_*.cpp beside it.
#include <fmt/format.h>

#include <algorithm>

#include "apps/policy_commands.hpp"
#include "policies/registry.hpp"

namespace holdall::apps {

namespace {

void list(bool json) {
  const std::vector<PolicyInfo> policies = list_policies();
  if (json) {
    nlohmann::json all = nlohmann::json::array();
    for (const PolicyInfo& policy : policies)
      all.push_back({{"policy", policy.name}, {"summary", policy.summary}});
    fmt::print("{}\n", all.dump());
    return;
  }
  std::size_t width = 0;
  for (const PolicyInfo& policy : policies) width = std::max(width, policy.name.size());
  for (const PolicyInfo& policy : policies)
    fmt::print("{:<{}}  {}\n", policy.name, width, policy.summary);
}

}  // namespace

void add_policy(CLI::App& app, int& status) {
  CLI::App* const group = app.add_subcommand("policy", "who is evicted");
  group->require_subcommand(1);
  CLI::App* const command =
      group->add_subcommand("list", "the policies, what each evicts, its parameters");
  auto json = std::make_shared<bool>(false);
  add_plugin_option(*command);
  command->add_flag("--json", *json, "an array of JSON objects");
  command->callback([json, &status] {
    list(*json);
    status = 0;
  });
  add_policy_compare(*group, status);
  add_policy_replay(*group, status);
  add_policy_curve(*group, status);
  add_policy_sweep(*group, status);
  add_policy_trace(*group, status);
}

}  // namespace holdall::apps
