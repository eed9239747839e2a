// Makers by name, for what is pluggable beside policies: the same specs, the same errors.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policies/registry.hpp"
#include "policies/words.hpp"

namespace holdall::policies {

// All members are thread-safe.
template <class T>
class Names {
 public:
  using Maker = std::function<std::unique_ptr<T>(Parameters&)>;
  struct Entry {
    std::string summary;
    Maker maker;
  };

  // `kind` is what messages call one: "prefetcher".
  Names(std::string_view kind, std::map<std::string, Entry, std::less<>> entries)
      : kind_(kind), entries_(std::move(entries)) {}

  std::unique_ptr<T> make(std::string_view spec) const {
    const std::size_t colon = spec.find(':');
    const Maker maker = find(spec.substr(0, colon));
    try {
      Parameters parameters(colon == spec.npos ? "" : spec.substr(colon + 1));
      std::unique_ptr<T> made = maker(parameters);
      if (const auto unread = parameters.unread(); !unread.empty())
        throw PolicyError(unknown("parameter", unread.front(), parameters.known(), "It takes"));
      if (made == nullptr) throw PolicyError("its maker made nothing");
      return made;
    } catch (const PolicyError& error) {
      throw PolicyError(kind_ + " '" + std::string(spec) + "': " + error.what());
    }
  }

  void add(const PolicyInfo& info, Maker maker) {
    if (!can_name_policy(info.name) || !maker)
      throw PolicyError("'" + info.name + "' cannot name a " + kind_ + ", or has no maker");
    const std::lock_guard lock(mutex_);
    entries_.insert_or_assign(info.name, Entry{info.summary, std::move(maker)});
  }

  std::vector<PolicyInfo> list() const {
    const std::lock_guard lock(mutex_);
    std::vector<PolicyInfo> infos;
    for (const auto& [name, entry] : entries_) infos.push_back({name, entry.summary});
    return infos;
  }

 private:
  Maker find(std::string_view name) const {
    const std::lock_guard lock(mutex_);
    if (const auto entry = entries_.find(name); entry != entries_.end()) return entry->second.maker;
    std::vector<std::string> names;
    for (const auto& entry : entries_) names.push_back(entry.first);
    throw PolicyError(unknown(kind_, name, names, "There are"));
  }

  const std::string kind_;
  mutable std::mutex mutex_;  // guards entries_
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace holdall::policies
