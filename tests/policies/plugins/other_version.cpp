// Built, as it says, for the version of the interface after this one.
#include "policies/plugin.h"

const holdall_plugin_description* holdall_plugin() {
  static const holdall_plugin_description description = {HOLDALL_PLUGIN_ABI + 1, 0, nullptr};
  return &description;
}
