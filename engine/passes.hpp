// A set that may be bigger than the budget, handed out in passes that fit: work starts on chunks that are resident, the next
// pass is brought in meanwhile. On a cyclic sweep over r times the budget that moves 1 - 1/r of the bytes, where
// least-recently-used order moves all of them.
//
//   for (Passes passes = engine.passes(stream, {read(edges)}); passes.next();)
//     for (const Need& part : passes.parts()) {
//       const auto [first, count] = edges.elements(part.run);
//       step<<<grid, block, 0, stream>>>(edges.data(), first, count);
//     }
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/lease.hpp"

namespace holdall {

class Passes {
 public:
  // Use Engine::passes. `together`: needs come in groups of so many, of one chunk each where it is more than one; a group is
  // never divided.
  Passes(Pager& pager, Stream stream, std::vector<Need> needs, std::size_t together = 1);
  Passes(Passes&&) noexcept = default;
  Passes& operator=(Passes&& other) noexcept;
  ~Passes();

  // Leaves out those missing chunks (of a group, its first) for which this holds: the caller will do without them. Before
  // the first next().
  void leave_out(const std::function<bool(const RangeState& range, std::uint64_t chunk)>& which);

  // The next pass, in place of the last one; false: there is none left. Throws as Engine::acquire does.
  bool next();
  // Its chunks, runs of one range each; touchable by work put on the stream until next() is called.
  std::span<const Need> parts() const { return parts_; }
  // Whether the pass was resident from the start.
  bool was_resident() const { return was_resident_; }

 private:
  struct Ahead {
    std::vector<Need> needs;
    std::deque<std::shared_ptr<Pending>> pending;  // parts of it, so that devices can take turns
  };
  struct Pinned {
    std::vector<Need> needs;
    std::vector<Lease> leases;
  };
  void pin_groups(const std::vector<Need>& needs);
  void look_ahead();
  bool arrived(const Ahead& ahead) const;
  void take(Ahead& ahead);
  void cancel(Ahead& ahead);
  void step_back(Ahead failed);
  std::vector<Need> cut();

  Pager* pager_ = nullptr;
  StreamUse* use_ = nullptr;
  Bytes pass_bytes_ = 0;
  std::size_t together_ = 1;
  std::deque<Pinned> resident_;  // passes not handed out yet
  std::deque<Need> missing_;
  std::deque<Ahead> ahead_;
  std::vector<Need> parts_;
  std::vector<Lease> leases_;
  bool was_resident_ = false;
};

}  // namespace holdall
