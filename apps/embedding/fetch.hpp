// The look-up itself, in one of the ways to read cold rows.
#pragma once

#include "apps/embedding/fetch_costs.hpp"
#include "apps/embedding/stream_work.hpp"

namespace holdall::embedding {

using kernels::RowsOut;

// How the cold rows of a batch are to be read, and how many there will be at most, but for
// surprises.
struct FetchPlan {
  Fetch fetch = Fetch::direct;
  std::uint32_t cold = 0;
};
StreamWork::Staged staged_by(Fetch fetch);

// `work` has room for the plan. Does not wait.
void fetch_rows(Engine& engine, const kernels::TableView& view, const FetchCosts& costs,
                const FetchPlan& plan, const kernels::LookupIn& in, const RowsOut& out,
                StreamWork& work, Stream stream);

}  // namespace holdall::embedding
