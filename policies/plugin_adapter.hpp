// Part of policies/plugin.hpp: a policy of a plug-in as a Policy that trusts no answer.
#pragma once

#include <memory>
#include <string>

#include "policies/plugin.h"
#include "policies/policy.hpp"

namespace holdall::policies {

// `library` keeps `hooks` alive. Throws PolicyError if the plug-in refuses the parameters.
std::unique_ptr<Policy> adapt_plugin(const holdall_policy& hooks, std::shared_ptr<void> library,
                                     const std::string& file, const std::string& parameters);

}  // namespace holdall::policies
