// Policies by name: the same string on every command line and in every program.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "policies/policy.hpp"

namespace holdall {

// An unknown policy, an unknown parameter, or a value out of bounds; the message lists what there
// is and names the nearest.
class PolicyError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

// The parameters of "name:key=value,key=value". A value that holds commas itself, as the spec of
// another policy may, stands in parentheses: "clean:of=(lfu:halflife=9),among=4"; mind the shell.
// Reading one marks it known; make_policy refuses those that nobody read.
class Parameters {
 public:
  // `spec` is the part after the colon. Throws PolicyError if it is not of that form.
  explicit Parameters(std::string_view spec);

  // The value of `key`, or `otherwise`. Throws PolicyError outside [least, most] or where it is no
  // number.
  double number(std::string_view key, double otherwise, double least, double most);
  // The same for a whole number, and for one of `choices`.
  std::uint64_t count(std::string_view key, std::uint64_t otherwise, std::uint64_t least,
                      std::uint64_t most);
  std::string choice(std::string_view key, std::string_view otherwise,
                     std::span<const std::string_view> choices);
  bool flag(std::string_view key, bool otherwise);  // "true" or "false"
  // Any text; the parentheses around it are taken off.
  std::string text(std::string_view key, std::string_view otherwise);

  // All of them as they were given, for a maker that reads them itself.
  std::string rest();

  const std::vector<std::string>& known() const { return known_; }
  std::vector<std::string> unread() const;

 private:
  const std::string* read(std::string_view key);  // null if not given

  std::map<std::string, std::string, std::less<>> values_;
  std::vector<std::string> known_;
};

using PolicyMaker = std::function<std::unique_ptr<Policy>(Parameters&)>;

struct PolicyInfo {
  std::string name;
  std::string summary;  // one line: what it evicts, its parameters
};

// "lru", "lfu:halflife=10000". Throws PolicyError. Thread-safe.
std::unique_ptr<Policy> make_policy(std::string_view spec);

// "lru,lfu:halflife=8,clock": a comma begins another policy, unless a parameter follows it, which
// is KEY= with no colon before: "a:x=1,y=2,b:z=3" are a:x=1,y=2 and b:z=3.
std::vector<std::string> split_policies(std::string_view list);

// Is it not empty and free of colons, commas, equals signs, pluses, parentheses and spaces?
bool can_name_policy(std::string_view name);

// Adds the policy, or replaces the one of that name; those already made stay as they are.
// `maker` reads its parameters and may throw PolicyError. Thread-safe.
// Throws PolicyError if the name could not stand in a spec.
void register_policy(const PolicyInfo& info, PolicyMaker maker);

std::vector<PolicyInfo> list_policies();  // in alphabetical order; thread-safe

}  // namespace holdall
