// The share of requests that the first rows of an order serve: what a budget will give.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace holdall::embedding {

class HitCurve {
 public:
  // Every row is asked for as often: no order is known.
  explicit HitCurve(std::uint64_t rows = 0) : points_{{0, 0}, {rows, rows > 0 ? 1.0 : 0.0}} {}
  // Of counts in their order, highest first.
  explicit HitCurve(const std::vector<std::uint64_t>& sorted) : points_{{0, 0}} {
    double sum = 0;
    for (const std::uint64_t count : sorted) sum += static_cast<double>(count);
    if (sum == 0) {
      *this = HitCurve(sorted.size());
      return;
    }
    const std::uint64_t step = std::max<std::uint64_t>(1, sorted.size() / 4096);
    double so_far = 0;
    for (std::uint64_t i = 0; i < sorted.size(); ++i) {
      so_far += static_cast<double>(sorted[i]);
      if ((i + 1) % step == 0 || i + 1 == sorted.size()) points_.push_back({i + 1, so_far / sum});
    }
  }
  void add(std::uint64_t rows, double share) { points_.push_back({rows, share}); }

  double at(std::uint64_t rows) const {
    const auto after = std::ranges::upper_bound(points_, rows, {}, &Point::rows);
    if (after == points_.begin()) return 0;
    const Point& low = *(after - 1);
    if (after == points_.end()) return low.share;
    return low.share + (after->share - low.share) * static_cast<double>(rows - low.rows) /
                           static_cast<double>(after->rows - low.rows);
  }

 private:
  struct Point {
    std::uint64_t rows = 0;
    double share = 0;
  };
  std::vector<Point> points_;
};

}  // namespace holdall::embedding
