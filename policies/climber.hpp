// Hill climbing on the rate of hits: goes on in the direction that has paid, in steps that shrink,
// and starts afresh when the rate jumps. Einziger, Eytan, Friedman and Manes, "Adaptive software
// cache management", Middleware 2018; the constants are those of Caffeine's simulator ("simple").
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace holdall::policies {

class Climber {
 public:
  explicit Climber(std::uint64_t chunks = 1)
      : few_(chunks <= 512),
        first_step_(std::max(0.0625 * static_cast<double>(chunks), 2.0)),
        first_sample_(10 * chunks),
        sample_(first_sample_),
        step_(first_step_),
        up_(few_) {}

  // One use of a full memory. What to add now: 0 until a sample is complete.
  double step(bool hit) {
    ++uses_;
    hits_ += hit;
    if (uses_ < sample_) return 0;

    const double rate = static_cast<double>(hits_) / static_cast<double>(uses_);
    if (rate < rate_) up_ = !up_;
    if (std::abs(rate - rate_) >= 0.05) {
      sample_ = first_sample_;
      step_ = first_step_;
    }
    const double by = up_ ? step_ : -step_;

    rate_ = rate;
    uses_ = hits_ = 0;
    step_ *= few_ ? 0.995 : 0.98;
    if (few_) {  // the smaller the step, the longer the look
      const double ratio = first_step_ / std::max(first_step_ / 4, step_);
      sample_ = static_cast<std::uint64_t>(static_cast<double>(first_sample_) *
                                           std::clamp(ratio, 1.0, 4.0));
    }
    return by;
  }

 private:
  bool few_;  // a small memory
  double first_step_;
  std::uint64_t first_sample_;
  std::uint64_t sample_;
  double step_;
  bool up_;
  double rate_ = 0;  // of the last sample
  std::uint64_t uses_ = 0, hits_ = 0;
};

}  // namespace holdall::policies
