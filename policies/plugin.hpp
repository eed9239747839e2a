// Loads policies from shared libraries (policies/plugin.h is what those offer).
//
//   load_plugin("./my_policy.so");
//   auto policy = make_policy("mine:depth=3");
//
// What a plug-in answers is checked before anything is done with it. Where it names a chunk that is
// not resident or may not go, or none where one may go, it is asked again a few times and for more
// of them, then the longest unused chunk goes instead; a plug-in that has failed so too often is
// not asked any more. Its caller never notices; `plugin_faults` tells.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "policies/registry.hpp"

namespace holdall {

// A library that cannot be loaded, is no plug-in, or was built for another version of the
// interface.
class PluginError : public PolicyError {
 public:
  using PolicyError::PolicyError;
};

// Registers the policies of the library and returns their names. It stays loaded while any of them
// is registered or in use. Throws PluginError; then nothing has changed. Thread-safe.
std::vector<std::string> load_plugin(const std::filesystem::path& file);

// What a policy of a plug-in did wrong, once for each kind.
struct PluginFault {
  std::string policy, file;
  std::string what;         // of the first time
  std::uint64_t times = 0;  // calls of `victim` that had it
};
std::vector<PluginFault> plugin_faults();  // since the start of the program; thread-safe

}  // namespace holdall
