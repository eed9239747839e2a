#include "policies/plugin.hpp"

#include <dlfcn.h>

#include <array>
#include <memory>
#include <utility>

#include "policies/plugin.h"
#include "policies/plugin_adapter.hpp"

namespace holdall {

namespace {

using Library = std::shared_ptr<void>;

Library open(const std::string& file) {
  // A name without a slash would be looked for in the system's folders.
  const std::string path = file.find('/') == file.npos ? "./" + file : file;
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw PluginError("cannot load plug-in " + file + ": " + dlerror());
  return {handle, [](void* h) { dlclose(h); }};
}

const holdall_plugin_description& describe(const Library& library, const std::string& file) {
  using Describe = const holdall_plugin_description* (*)();
  void* symbol = dlsym(library.get(), "holdall_plugin");
  if (symbol == nullptr)
    throw PluginError(file +
                      " is no plug-in: it has no function holdall_plugin; see policies/plugin.h");
  const auto* description = reinterpret_cast<Describe>(symbol)();
  if (description == nullptr)
    throw PluginError("plug-in " + file + " does not describe itself: holdall_plugin gave null");
  if (description->abi != HOLDALL_PLUGIN_ABI)
    throw PluginError("plug-in " + file + " was built for version " +
                      std::to_string(description->abi) + " of the interface, this is version " +
                      std::to_string(HOLDALL_PLUGIN_ABI) + ": rebuild it with these headers");
  return *description;
}

void check(const holdall_policy& policy, const std::string& file) {
  if (policy.name == nullptr || policy.summary == nullptr)
    throw PluginError("plug-in " + file + " has a policy without a name or summary");
  const std::array<std::pair<bool, const char*>, 6> hooks = {
      {{policy.create != nullptr, "create"},
       {policy.destroy != nullptr, "destroy"},
       {policy.inserted != nullptr, "inserted"},
       {policy.accessed != nullptr, "accessed"},
       {policy.removed != nullptr, "removed"},
       {policy.victims != nullptr, "victims"}}};
  for (const auto& [there, name] : hooks)
    if (!there)
      throw PluginError("policy '" + std::string(policy.name) + "' of plug-in " + file +
                        " has no hook '" + name + "'");
  if (!can_name_policy(policy.name))
    throw PluginError("plug-in " + file + ": '" + policy.name + "' cannot name a policy");
}

}  // namespace

std::vector<std::string> load_plugin(const std::filesystem::path& path) {
  const std::string file = path.string();
  const Library library = open(file);
  const holdall_plugin_description& description = describe(library, file);
  for (std::uint32_t i = 0; i < description.count; ++i) check(description.policies[i], file);

  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < description.count; ++i) {
    const holdall_policy& hooks = description.policies[i];
    register_policy({hooks.name, hooks.summary}, [&hooks, library, file](Parameters& parameters) {
      return policies::adapt_plugin(hooks, library, file, parameters.rest());
    });
    names.emplace_back(hooks.name);
  }
  return names;
}

}  // namespace holdall
