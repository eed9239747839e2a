// What is brought in at all: a chunk that is not admitted is served where it is, by zero-copy reads
// of host memory. Any admission goes with any policy:
//
//   auto policy = with_admission(make_admission("tinylfu"), make_policy("lru"));
//   auto same = make_policy("admit:by=tinylfu,of=lru");
//
// To write one, derive from Admission and call register_admission.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "policies/policy.hpp"
#include "policies/registry.hpp"

namespace holdall {

// Called from one thread at a time.
class Admission {
 public:
  virtual ~Admission() = default;

  // The chunk was asked for, resident or not; comes before `admit`.
  virtual void used(Key chunk, const Request& request) { (void)chunk, (void)request; }
  // Does `admit` weigh the chunk against the one that would have to go? That one is looked for
  // first.
  virtual bool weighs() const { return false; }
  // Is it to be brought in? `victim` is none while there is room, and for one that does not weigh.
  virtual bool admit(Key chunk, const Request& request, std::optional<Key> victim) = 0;
  // How many chunks fit, about; told before the first use and whenever it grows.
  virtual void resize(std::uint64_t chunks) { (void)chunks; }
};

// "always", "tinylfu:seed=3", "bypass:uses=2". Throws PolicyError. Thread-safe, as are the others.
std::unique_ptr<Admission> make_admission(std::string_view spec);
void register_admission(const PolicyInfo& info,
                        std::function<std::unique_ptr<Admission>(Parameters&)> maker);
std::vector<PolicyInfo> list_admissions();

// The policy, which admits only what both do.
std::unique_ptr<Policy> with_admission(std::unique_ptr<Admission> admission,
                                       std::unique_ptr<Policy> policy);

}  // namespace holdall
