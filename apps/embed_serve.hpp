// holdall embed serve, where the program was built with it.
#pragma once

#include "apps/command.hpp"

namespace holdall::apps {

void add_embed_serve(CLI::App& group, int& status);

}  // namespace holdall::apps
