// holdall embed serve, of a build without cpp-httplib or prometheus-cpp.
#include "apps/embed_serve.hpp"
#include "engine/vmm/error.hpp"

namespace holdall::apps {

void add_embed_serve(CLI::App& group, int&) {
  CLI::App* const command = group.add_subcommand("serve", "not in this build");
  command->allow_extras();
  command->callback([] {
    throw Error(
        "this build has no server: install libcpp-httplib-dev and prometheus-cpp-dev, and build "
        "with -Dserve=enabled");
  });
}

}  // namespace holdall::apps
