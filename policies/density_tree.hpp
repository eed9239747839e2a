// Part of policies/prefetch.hpp.
#pragma once

#include <memory>

#include "policies/prefetch.hpp"

namespace holdall::policies {

std::unique_ptr<Prefetch> make_density_tree(Parameters& parameters);

}  // namespace holdall::policies
