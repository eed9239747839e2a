#include "apps/chunk_cost.hpp"

#include <algorithm>
#include <chrono>

#include "engine/error.hpp"

namespace holdall::apps {

namespace {

constexpr std::size_t chunks = 8, rounds = 9;

// Addresses and frames of a few chunks; the clean-up of what was made.
class Chunks {
 public:
  Chunks(vmm::Driver& driver, int device, Bytes bytes) : driver_(driver), bytes_(bytes) {
    vmm::check(driver.reserve(at_, chunks * bytes, 0, "a measurement"), "reserve addresses");
    for (vmm::Frame& frame : frames_) {
      const vmm::Status status = driver.create(frame, bytes, {vmm::Place::device, device});
      if (status == vmm::Status::ok) ++made_;
      vmm::check(status, "create a frame");
    }
  }
  ~Chunks() {
    for (std::size_t i = 0; i < mapped_; ++i) (void)driver_.unmap(at_ + i * bytes_, bytes_);
    for (std::size_t i = 0; i < made_; ++i) (void)driver_.release(frames_[i]);
    (void)driver_.unreserve(at_, chunks * bytes_);
  }
  Chunks(const Chunks&) = delete;
  Chunks& operator=(const Chunks&) = delete;

  // Maps all, grants access to all, unmaps all: seconds a chunk of each.
  ChunkCost round(int device) {
    using Clock = std::chrono::steady_clock;
    const auto timed = [](auto f) {
      const auto began = Clock::now();
      for (std::size_t i = 0; i < chunks; ++i) f(i);
      return std::chrono::duration<double>(Clock::now() - began).count() / chunks;
    };
    ChunkCost cost{bytes_};
    const vmm::Place place{vmm::Place::device, device};
    cost.map = timed([&](std::size_t i) {
      vmm::check(driver_.map(at_ + i * bytes_, bytes_, frames_[i]), "map a frame");
      ++mapped_;
    });
    cost.set_access = timed([&](std::size_t i) {
      vmm::check(
          driver_.set_access(at_ + i * bytes_, bytes_, {{place, vmm::Protection::read_write}}),
          "grant access");
    });
    cost.unmap = timed([&](std::size_t i) {
      vmm::check(driver_.unmap(at_ + i * bytes_, bytes_), "unmap a frame");
    });
    mapped_ = 0;
    return cost;
  }

 private:
  vmm::Driver& driver_;
  const Bytes bytes_;
  std::byte* at_ = nullptr;
  vmm::Frame frames_[chunks]{};
  std::size_t made_ = 0, mapped_ = 0;
};

}  // namespace

std::vector<ChunkCost> measure_chunk_costs(vmm::Driver& driver, int device) {
  std::vector<ChunkCost> costs;
  for (const Bytes bytes : {Bytes{2} << 20, Bytes{8} << 20, Bytes{64} << 20}) {
    if (driver.info(device).free < chunks * bytes) break;
    Chunks some(driver, device, bytes);
    std::vector<double> map, set_access, unmap;
    for (std::size_t i = 0; i < rounds; ++i) {
      const ChunkCost cost = some.round(device);
      map.push_back(cost.map);
      set_access.push_back(cost.set_access);
      unmap.push_back(cost.unmap);
    }
    const auto median = [](std::vector<double>& all) {
      std::ranges::nth_element(all, all.begin() + rounds / 2);
      return all[rounds / 2];
    };
    costs.push_back({bytes, median(map), median(set_access), median(unmap)});
  }
  return costs;
}

}  // namespace holdall::apps
