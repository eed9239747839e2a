// On-demand paging by a kernel that knows what it misses only while it runs: it reads a residency bitmap, marks the chunks
// that it missed in another, and returns; the engine brings those in, the caller launches what is left.
//
//   Demand demand = engine.demand(stream, edges);
//   do step<<<grid, block, 0, stream>>>(edges.data(), demand.resident(), demand.missed(), work);
//   while (demand.service());
//
// Bit i of word i/64 stands for chunk i. The chunks that the residency bitmap shows are leased until the next service.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/lease.hpp"

namespace holdall {

class Demand {
 public:
  // Use Engine::demand.
  Demand(Pager& pager, Stream stream, RangeState& range, Access::Kind kind);

  const std::uint64_t* resident() const { return bitmaps_.data(); }          // device pointers
  std::uint64_t* missed() const { return bitmaps_.data() + words_.size(); }  // set bits by atomicOr
  // Waits for the stream. False: nothing was missed since the last time. Otherwise brings in of the missed chunks what
  // fits, at least one, and shows them in resident(). Throws as Engine::acquire does.
  bool service();
  // Chunks that were missed in all.
  std::uint64_t missed_in_all() const { return missed_in_all_; }

 private:
  void show();

  Pager* pager_;
  StreamUse* use_;
  RangeState* range_;
  Access::Kind kind_;
  Range<std::uint64_t> bitmaps_;  // resident, missed
  Lease bitmaps_lease_;
  std::vector<Lease> leases_;
  std::vector<std::uint64_t> words_;
  std::uint64_t missed_in_all_ = 0;
};

}  // namespace holdall
