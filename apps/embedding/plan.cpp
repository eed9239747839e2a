#include "apps/embedding/plan.hpp"

#include <algorithm>

#include "apps/embedding/hit_curve.hpp"
#include "apps/embedding/layout.hpp"

namespace holdall::embedding {

std::vector<TablePlan> plan_table(const TableSpec& asked, const SourceInfo& source,
                                  const std::vector<Bytes>& budgets, int devices) {
  const TableSpec spec = completed(asked, source);
  const TableLayout layout = layout_of(spec, source);
  HitCurve curve(source.rows);
  if (!spec.frequencies.empty()) {
    std::vector<std::uint64_t> sorted = spec.frequencies;
    std::ranges::sort(sorted, std::greater<>());
    curve = HitCurve(sorted);
  }
  std::vector<TablePlan> plans;
  for (const Bytes budget : budgets) {
    const std::uint64_t hot = layout.rows.chunks_in(budget, devices);
    TablePlan plan;
    plan.budget = budget;
    plan.chunk = layout.rows.chunk;
    plan.device_bytes = hot * layout.rows.chunk;
    plan.host_bytes = layout.rows.host_bytes(hot);
    plan.overhead_bytes = layout.overhead;
    plan.hot_rows = std::min<std::uint64_t>(source.rows, layout.rows.hot_rows(hot));
    plan.hit_rate = curve.at(plan.hot_rows);
    plans.push_back(plan);
  }
  return plans;
}

}  // namespace holdall::embedding
