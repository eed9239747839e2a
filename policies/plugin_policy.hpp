// Makes a plug-in of a policy written in C++. The whole of it, below the class Mine:
//
//   const holdall_plugin_description* holdall_plugin() {
//     return holdall::plugin<Mine>("mine", "what it evicts; depth=N (1)");
//   }
//
// Mine derives from Policy and is made from a Parameters&, or from nothing if it has no parameters.
// Build it as a shared library against the installed headers; one that reads Parameters links with
// holdall too. docs/plugin/ has a template to copy. An exception in Mine goes no further: the
// policy counts as failed from then on, and its caller goes on without it.
#pragma once

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <type_traits>
#include <vector>

#include "policies/plugin.h"
#include "policies/policy.hpp"
#include "policies/registry.hpp"

namespace holdall {

template <class P>
class PluginPolicy {
 public:
  static holdall_policy describe(const char* name, const char* summary) {
    return {name,     summary, create,  destroy, admit, inserted,
            accessed, removed, victims, hinted,  resize};
  }

 private:
  static std::unique_ptr<P> make(const char* spec) {
    if constexpr (std::is_constructible_v<P, Parameters&>) {
      Parameters parameters(spec);
      auto made = std::make_unique<P>(parameters);
      if (const auto unread = parameters.unread(); !unread.empty())
        throw PolicyError("no parameter '" + unread.front() + "'");
      return made;
    } else {
      if (*spec != '\0') throw PolicyError("it takes no parameters");
      return std::make_unique<P>();
    }
  }

  static void* create(const char* spec, char* error, std::size_t size) {
    try {
      return new PluginPolicy(make(spec));
    } catch (const std::exception& e) {
      if (size > 0) {
        std::strncpy(error, e.what(), size - 1);
        error[size - 1] = '\0';
      }
      return nullptr;
    }
  }
  static void destroy(void* self) { delete static_cast<PluginPolicy*>(self); }

  static Key key(std::uint64_t chunk) { return Key{chunk}; }
  static Request request(const holdall_request& r) {
    return {r.bytes, r.write != 0, r.prefetch != 0, r.next_use};
  }

  // Runs `step` on the policy unless it has failed before.
  template <class Step>
  static void run(void* self, const Step& step) {
    auto& me = *static_cast<PluginPolicy*>(self);
    if (me.failed_) return;
    try {
      step(*me.policy_);
    } catch (...) {
      me.failed_ = true;
    }
  }

  static int admit(void* self, const holdall_request* r) {
    bool admitted = true;
    run(self, [&](P& policy) { admitted = policy.admit(key(r->chunk), request(*r)); });
    return admitted;
  }
  static void inserted(void* self, const holdall_request* r) {
    run(self, [&](P& policy) { policy.inserted(key(r->chunk), request(*r)); });
  }
  static void accessed(void* self, const holdall_request* r, std::size_t count) {
    run(self, [&](P& policy) {
      for (std::size_t i = 0; i < count; ++i) policy.accessed(key(r[i].chunk), request(r[i]));
    });
  }
  static void removed(void* self, std::uint64_t chunk, int why) {
    run(self, [&](P& policy) {
      policy.removed(key(chunk), why == HOLDALL_EVICTED ? Left::evicted : Left::dropped);
    });
  }
  static std::size_t victims(void* self, std::uint64_t* chunks, std::size_t wanted,
                             const holdall_may_evict* may) {
    std::size_t found = 0;
    run(self, [&](P& policy) {
      const auto others = [&](Key chunk) {
        const auto number = static_cast<std::uint64_t>(chunk);
        return std::find(chunks, chunks + found, number) == chunks + found &&
               may->ask(may->context, number) != 0;
      };
      while (found < wanted) {
        const std::optional<Key> next = policy.victim(others);
        if (!next) break;
        chunks[found++] = static_cast<std::uint64_t>(*next);
      }
    });
    return static_cast<PluginPolicy*>(self)->failed_ ? holdall_failed : found;
  }
  static void hinted(void* self, std::uint64_t chunk, std::uint64_t next_use) {
    run(self, [&](P& policy) { policy.hinted(key(chunk), next_use); });
  }
  static void resize(void* self, std::uint64_t capacity) {
    run(self, [&](P& policy) { policy.resize(capacity); });
  }

  explicit PluginPolicy(std::unique_ptr<P> policy) : policy_(std::move(policy)) {}

  std::unique_ptr<P> policy_;
  bool failed_ = false;
};

// The description of a plug-in with this one policy.
template <class P>
const holdall_plugin_description* plugin(const char* name, const char* summary) {
  static const holdall_policy policy = PluginPolicy<P>::describe(name, summary);
  static const holdall_plugin_description description = {HOLDALL_PLUGIN_ABI, 1, &policy};
  return &description;
}

}  // namespace holdall
