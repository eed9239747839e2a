#include "apps/embedding/fetch_costs.hpp"

#include <algorithm>
#include <limits>

namespace holdall::embedding {

double FetchCosts::seconds(Batch batch, Fetch fetch, std::uint32_t rows) const {
  const Curve& points = curve(batch, fetch);
  if (points.empty()) return std::numeric_limits<double>::infinity();
  if (rows <= points.front().rows) return points.front().seconds;
  const auto after = std::ranges::upper_bound(points, rows, {}, &Point::rows);
  if (after == points.end())
    return points.back().seconds * static_cast<double>(rows) / points.back().rows;
  const Point& low = *(after - 1);
  return low.seconds +
         (after->seconds - low.seconds) * (rows - low.rows) / (after->rows - low.rows);
}

Fetch FetchCosts::best(Batch batch, std::uint32_t rows) const {
  Fetch best = Fetch::direct;
  for (const Fetch fetch : {Fetch::beside, Fetch::sorted, Fetch::cpu, Fetch::both})
    if (seconds(batch, fetch, rows) < seconds(batch, best, rows)) best = fetch;
  return best;
}

}  // namespace holdall::embedding
