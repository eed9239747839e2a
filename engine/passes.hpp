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
#include <memory>
#include <span>
#include <vector>

#include "engine/lease.hpp"

namespace holdall {

class Passes {
 public:
  Passes(Pager& pager, Stream stream, std::vector<Need> needs);
  Passes(Passes&&) noexcept = default;
  Passes& operator=(Passes&& other) noexcept;
  ~Passes();

  // The next pass, in place of the last one; false: there is none left. Throws as Engine::acquire does.
  bool next();
  // Its chunks, runs of one range each; touchable by work put on the stream until next() is called.
  std::span<const Need> parts() const { return parts_; }
  // Whether the pass was resident from the start.
  bool was_resident() const { return was_resident_; }

 private:
  struct Ahead {
    std::vector<Need> needs;
    std::shared_ptr<Pending> pending;
  };
  struct Pinned {
    std::vector<Need> needs;
    Lease lease;
  };
  void look_ahead();
  void step_back(Ahead failed);
  std::vector<Need> cut();

  Pager* pager_ = nullptr;
  StreamUse* use_ = nullptr;
  Bytes pass_bytes_ = 0;
  std::deque<Pinned> resident_;  // passes not handed out yet
  std::deque<Need> missing_;
  std::deque<Ahead> ahead_;
  std::vector<Need> parts_;
  std::vector<Lease> leases_;
  bool was_resident_ = false;
};

}  // namespace holdall
