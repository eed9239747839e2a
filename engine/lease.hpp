// A lease: while it lives, and until the GPU has finished the work put on its stream during its life, its chunks stay
// where they are. Ends by itself; it never throws and never waits.
#pragma once

#include <utility>

#include "engine/pager.hpp"

namespace holdall {

class Lease {
 public:
  Lease() = default;
  Lease(Pager& pager, LeaseRecord* record) : pager_(&pager), record_(record) {}
  Lease(Lease&& other) noexcept
      : pager_(other.pager_), record_(std::exchange(other.record_, nullptr)) {}
  Lease& operator=(Lease&& other) noexcept {
    Lease(std::move(other)).swap(*this);
    return *this;
  }
  ~Lease() { release(); }

  // Ends it now.
  void release() noexcept {
    if (record_) pager_->release(std::exchange(record_, nullptr));
  }
  // A lease counts as its acquiring thread's in the check for waits that can never end. Say so if another will release it.
  void hand_over() {
    if (record_) record_->use->hand_over(record_);
  }
  explicit operator bool() const { return record_ != nullptr; }
  void swap(Lease& other) noexcept {
    std::swap(pager_, other.pager_);
    std::swap(record_, other.record_);
  }

 private:
  Pager* pager_ = nullptr;
  LeaseRecord* record_ = nullptr;
};

}  // namespace holdall
