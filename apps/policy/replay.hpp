// Runs a trace through a policy, exactly: what is counted is what a memory of that capacity would
// have done.
//
//   Replay replay("s3fifo", {.capacity = 1000});
//   replay.feed(trace.requests());
//   replay.counts().misses;
//
// A request for a chunk that is not resident is a miss: the policy is asked to admit it, then for
// victims until it fits, then it is inserted. One that is refused, or bigger than the whole memory,
// is served where it lies. A write leaves a chunk dirty, and a dirty victim is written back. An
// overwrite brings nothing in. A prefetch is no request: it brings in what is not resident. A
// removal takes a chunk's contents away, written back or not.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apps/policy/trace.hpp"
#include "policies/policy.hpp"

namespace holdall::lab {

struct ReplayOptions {
  std::uint64_t capacity = 0;  // chunks; bytes where sizes are honoured
  bool sizes = false;          // honour the column of sizes
  std::uint64_t chunk = 1;     // bytes of each chunk, where they are not
};

struct Counts {
  std::uint64_t requests = 0, hits = 0, misses = 0;
  std::uint64_t refused = 0;     // misses that the policy did not admit, or that fit in no memory
  std::uint64_t prefetched = 0;  // brought in ahead of need
  std::uint64_t removed = 0;     // resident chunks whose contents went
  std::uint64_t bytes_in = 0, bytes_out = 0;
  std::uint64_t chunks_in = 0;  // mapped: misses and prefetches that became resident
  std::uint64_t evictions = 0, write_backs = 0;

  bool operator==(const Counts&) const = default;
};

class Replay {
 public:
  // Throws PolicyError if there is no such policy.
  Replay(const std::string& policy, const ReplayOptions& options);
  Replay(const std::string& name, std::unique_ptr<Policy> policy, const ReplayOptions& options);

  // The requests that follow those fed before. Throws LabError if the policy names a victim that is
  // not resident.
  void feed(const Requests& requests);
  const Counts& counts() const { return counts_; }
  bool holds(Id id) const { return id < state_.size() && state_[id] != 0; }

 private:
  static constexpr std::size_t few = 64;  // requests that the policy is told of ahead
  enum State : std::uint8_t { resident = 1, dirty = 2 };

  template <bool sizes, bool kinds, bool next_uses>
  void run(const Requests& requests);
  void expect(std::span<const Id> ids);
  template <bool sizes>
  bool bring_in(Id id, const Request& request, bool read);
  template <bool sizes>
  bool make_room(std::uint64_t bytes, Id newcomer);
  void grow(const Requests& requests);
  [[noreturn]] void wrong_victim(std::uint64_t victim) const;

  const std::string name_;
  const ReplayOptions options_;
  std::unique_ptr<Policy> policy_;
  Counts counts_;
  std::uint64_t used_ = 0;            // in the unit of the capacity
  std::vector<std::uint8_t> state_;   // by id
  std::vector<std::uint64_t> bytes_;  // by id, where sizes are honoured: of resident chunks
};

// The whole of a trace at once.
Counts replay(const Requests& requests, const std::string& policy, const ReplayOptions& options);

}  // namespace holdall::lab
