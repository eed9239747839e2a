// How many chunks fit, for policies whose queues are shares of that.
//
// Shares are counted in chunks. Where all have one size, that many fit as the capacity is multiples
// of it. Where sizes differ, it is chunks of the mean size that come in, over the latest few
// hundred; so a queue's share in bytes is right on average only.
//
// A memory is often full a little before its capacity (frames held in reserve, chunks on their
// way), so once victims are asked for, no more are taken to fit than were ever resident then. If
// the capacity was never told, as many fit as were ever resident.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace holdall::policies {

class Room {
 public:
  std::size_t chunks() const { return chunks_; }  // 1 at least
  bool known() const { return capacity_ != 0; }   // the capacity was told

  // `share` of the chunks, one at least.
  std::size_t part(double share) const {
    return std::max<std::size_t>(1, static_cast<std::size_t>(static_cast<double>(chunks_) * share));
  }

  void resize(std::uint64_t capacity) {
    capacity_ = capacity;
    pressed_ = 0;
    count();
  }
  // A chunk of `bytes` came; now `resident` are here.
  void inserted(std::uint64_t bytes, std::size_t resident) {
    const double size = static_cast<double>(bytes);
    if (size == mean_ && resident <= most_) return;
    mean_ = mean_ == 0 ? size : mean_ + (size - mean_) / 256;
    most_ = std::max(most_, resident);
    count();
  }
  // A victim is wanted while `resident` are here.
  void pressed(std::size_t resident) {
    if (resident <= pressed_) return;
    pressed_ = resident;
    count();
  }

 private:
  void count() {
    std::size_t fit = most_;
    if (capacity_ != 0 && mean_ > 0)
      fit = static_cast<std::size_t>(static_cast<double>(capacity_) / mean_);
    if (pressed_ != 0) fit = std::min(fit, pressed_);
    chunks_ = std::max<std::size_t>(1, fit);
  }

  std::uint64_t capacity_ = 0;  // in the unit of Request::bytes; 0 if never told
  double mean_ = 0;             // bytes of a chunk; 0 before the first
  std::size_t most_ = 0;        // ever resident
  std::size_t pressed_ = 0;     // ever resident when a victim was wanted
  std::size_t chunks_ = 1;
};

}  // namespace holdall::policies
