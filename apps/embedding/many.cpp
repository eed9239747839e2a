// Bags of many tables in one launch.
#include <algorithm>

#include "apps/embedding/version.hpp"

namespace holdall::embedding {

void pool_versions(const std::vector<std::shared_ptr<Version>>& versions,
                   const std::vector<std::uint64_t>& at, const Bags& bags, const RowsOut& out,
                   Stream stream) {
  // 1. a turn at each table; in one order for all, so that nobody waits in a circle
  std::vector<Version*> order;
  for (const auto& version : versions) order.push_back(version.get());
  std::ranges::sort(order);
  order.erase(std::unique(order.begin(), order.end()), order.end());
  StreamWork& work = versions.front()->work_of(stream);
  const std::scoped_lock hold(work.lock);
  const auto with_turns = [&](auto& self, std::size_t i) -> void {
    if (i < order.size()) return order[i]->turns().read(stream, [&] { self(self, i + 1); });
    // 2. one launch
    std::vector<kernels::PooledTable> tables;
    for (std::size_t k = 0; k < versions.size(); ++k)
      tables.push_back({versions[k]->view(), at[k]});
    kernels::pool_many(work.tables(tables.data(), tables.size(), stream), tables.size(), bags,
                       work.counts(), out, stream);
  };
  with_turns(with_turns, 0);
}

}  // namespace holdall::embedding
