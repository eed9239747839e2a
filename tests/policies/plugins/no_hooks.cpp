// One policy, with a good name and no hook at all.
#include "policies/plugin.h"

const holdall_plugin_description* holdall_plugin() {
  static const holdall_policy policy = {"bad-empty", "has no hooks", nullptr, nullptr,
                                        nullptr,     nullptr,        nullptr, nullptr,
                                        nullptr,     nullptr,        nullptr};
  static const holdall_plugin_description description = {HOLDALL_PLUGIN_ABI, 1, &policy};
  return &description;
}
