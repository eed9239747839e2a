// The exchange of parts that are devices of one engine: over the links between them where they
// reach each other, through pinned host memory where they do not.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <set>
#include <vector>

#include "apps/graph/exchange.hpp"

namespace holdall::graph {

// What the parts have in common; outlives their exchanges.
class DeviceGroup {
 public:
  DeviceGroup(Engine& engine, int parts);

  int parts() const { return parts_; }
  // Ends all waits of the others: they throw PartFailed.
  void fail();

 private:
  friend class DeviceExchange;
  struct Part {
    std::vector<std::uint64_t> numbers;
    RangeState* range = nullptr;
    HostArray<std::byte> copy;  // of the array, where devices do not reach each other
  };
  // Returns once all parts have called it. Throws PartFailed.
  void meet();

  Engine& engine_;
  const int parts_;
  bool through_host_ = false;
  std::vector<Part> each_;
  std::mutex lock_;
  std::condition_variable all_here_;
  int here_ = 0;
  std::uint64_t meetings_ = 0;
  bool failed_ = false;
};

class DeviceExchange final : public Exchange {
 public:
  // Of the part that runs on a device of the same number.
  DeviceExchange(DeviceGroup& group, int part) : group_(group), part_(part) {}

  int part() const override { return part_; }
  int parts() const override { return group_.parts(); }
  void in_turn(const std::function<void()>& f) override;

 private:
  std::vector<std::uint64_t> collect(std::span<const std::uint64_t> mine) override;
  void merge(const View& array, Merge merge) override;
  void gather(const View& array, std::span<const std::uint64_t> bounds) override;
  void visit_others(const View& array, const std::function<void(const std::byte*)>& visit) override;

  void show(const View& array);
  const std::byte* look_at(int part, const View& mine);
  void finish(const View& array);

  DeviceGroup& group_;
  const int part_;
  std::set<std::uint32_t> granted_;  // ranges of others that this device may read
};

}  // namespace holdall::graph
