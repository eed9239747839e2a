// Numbers from 0 to n - 1 with probabilities as 1 / (k + 1)^alpha; 0: uniform. By
// rejection-inversion (Hoermann, Derflinger, "Rejection-inversion to generate variates from
// monotone discrete distributions", 1996).
#pragma once

#include <cmath>
#include <cstdint>
#include <random>

namespace holdall::embedding {

class Zipf {
 public:
  Zipf(std::uint64_t n, double alpha) : n_(static_cast<double>(n)), alpha_(alpha) {
    first_ = area(1.5) - 1;
    last_ = area(n_ + 0.5);
  }
  template <typename Random>
  std::uint64_t operator()(Random& random) const {
    std::uniform_real_distribution<double> uniform(0, 1);
    for (;;) {
      const double u = last_ + uniform(random) * (first_ - last_);
      const double x = inverse(u);
      const double k = std::fmin(std::fmax(std::round(x), 1), n_);
      if (u >= area(k + 0.5) - std::pow(k, -alpha_)) return static_cast<std::uint64_t>(k) - 1;
    }
  }

 private:
  // The integral of x^-alpha, up to a constant, and its inverse.
  double area(double x) const {
    return alpha_ == 1 ? std::log(x) : (std::pow(x, 1 - alpha_) - 1) / (1 - alpha_);
  }
  double inverse(double y) const {
    return alpha_ == 1 ? std::exp(y) : std::pow(1 + y * (1 - alpha_), 1 / (1 - alpha_));
  }

  double n_, alpha_, first_ = 0, last_ = 0;
};

}  // namespace holdall::embedding
