#include "apps/embedding/row_store.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "apps/embedding/error.hpp"
#include "apps/embedding/spread.hpp"
#include "kernels/write_rows.hpp"

namespace holdall::embedding {

namespace {

// What is evicted from device memory has been copied to the host's part before: nothing is kept of
// it.
class Nothing : public Backing {
 public:
  bool full() const override { return false; }
  void read(Bytes, std::span<std::byte> to) override { std::ranges::fill(to, std::byte{0}); }
  void write(Bytes, std::span<const std::byte>) override {}
};

}  // namespace

RowStore::RowStore(Engine& engine, std::vector<Stream> streams, std::string name,
                   const RowsLayout& layout, Bytes memory)
    : engine_(engine), streams_(std::move(streams)), name_(std::move(name)), layout_(layout) {
  check_budget(memory);
  const std::uint64_t hot = chunks_in(memory);
  range_ = engine.reserve<std::byte>(layout_.chunks * layout_.chunk,
                                     {.name = name_ + " rows",
                                      .backing = std::make_shared<Nothing>(),
                                      .chunk = layout_.chunk,
                                      .cold = Cold::unmapped});
  pinned_.resize(layout_.slabs());
  cold_ = engine.pager().host_memory().reserve(layout_.slabs() * layout_.chunk, name_);
  try {
    for (std::uint64_t i = layout_.first_slab(hot); i < layout_.slabs(); ++i) pin(i);
    leases_.reserve(layout_.chunks);
    for (; hot_chunks_ < hot; ++hot_chunks_) leases_.push_back(hold(hot_chunks_));
  } catch (...) {
    for (std::uint64_t i = 0; i < layout_.slabs(); ++i) unpin(i);
    engine.pager().host_memory().unreserve(cold_, layout_.slabs() * layout_.chunk);
    throw;
  }
}

RowStore::~RowStore() {
  leases_.clear();
  for (std::uint64_t i = 0; i < layout_.slabs(); ++i) unpin(i);
  engine_.pager().host_memory().unreserve(cold_, layout_.slabs() * layout_.chunk);
}

void RowStore::check_budget(Bytes memory) const {
  if (memory == 0 || memory >= layout_.chunk) return;
  throw EmbeddingError(fmt::format(
      "table '{}': a budget of {} has room for none of its chunks of {}; give it more, or 0, which "
      "leaves all rows on the host",
      name_, to_string(memory), to_string(layout_.chunk)));
}

std::uint32_t RowStore::hot_rows(std::uint64_t chunks) const {
  return static_cast<std::uint32_t>(layout_.hot_rows(chunks));
}

Lease RowStore::hold(std::uint64_t chunk) {
  return hold_spread(engine_, streams_, chunk,
                     overwrite(range_, chunk * layout_.chunk, layout_.chunk));
}

void RowStore::pin(std::uint64_t i) {
  if (pinned_[i]) return;
  HostMemory& memory = engine_.pager().host_memory();
  memory.charge(layout_.chunk, name_);
  try {
    memory.pin(slab(i), layout_.chunk, name_);
  } catch (...) {
    memory.discharge(layout_.chunk);
    throw;
  }
  pinned_[i] = true;
  host_bytes_ += layout_.chunk;
}

void RowStore::unpin(std::uint64_t i) {
  if (!pinned_[i]) return;
  HostMemory& memory = engine_.pager().host_memory();
  memory.unpin(slab(i), layout_.chunk);
  memory.discharge(layout_.chunk);
  pinned_[i] = false;
  host_bytes_ -= layout_.chunk;
}

void RowStore::make_room(std::uint64_t chunks) {
  const std::uint64_t before = leases_.size();
  try {
    while (leases_.size() < chunks) leases_.push_back(hold(leases_.size()));
    for (std::uint64_t i = layout_.first_slab(chunks); i < layout_.slabs(); ++i) pin(i);
  } catch (...) {
    leases_.resize(before);
    settle(hot_chunks_);
    throw;
  }
}

void RowStore::copy_between(std::uint64_t chunks) {
  const bool up = chunks > hot_chunks_;
  const std::uint32_t first = hot_rows(std::min(chunks, hot_chunks()));
  const std::uint32_t last = hot_rows(std::max(chunks, hot_chunks()));
  const kernels::TableView view{
      .row = layout_.row, .cold_row = layout_.cold_row, .hot = hot(), .cold = cold_};
  if (view.one_type()) {
    copy_by_driver(first, last, up);
  } else {
    kernels::cross_rows(view, first, last - first, up, streams_.front());
  }
  for (const Stream stream : streams_) engine_.synchronize(stream);
}

void RowStore::copy_by_driver(std::uint32_t first_row, std::uint32_t last_row, bool up) {
  Bytes first = Bytes{first_row} * layout_.row.stride;
  const Bytes last = Bytes{last_row} * layout_.row.stride;
  while (first < last) {  // each side of a copy within one mapping, and one pinned slab
    const std::uint64_t chunk = first / layout_.chunk;
    const Bytes end = std::min(last, (chunk + 1) * layout_.chunk);
    std::byte* const hot_at = hot() + first;
    std::byte* const cold_at = cold_ + first;
    const int device = device_of(range_.state(), chunk);
    vmm::check(engine_.driver().copy(up ? hot_at : cold_at, up ? cold_at : hot_at, end - first,
                                     streams_[static_cast<std::size_t>(device)]),
               "move rows of " + name_);
    first = end;
  }
}

void RowStore::settle(std::uint64_t chunks) {
  hot_chunks_ = chunks;
  if (leases_.size() > chunks) {
    leases_.resize(chunks);
    engine_.advise({&range_.state(), Access::read, chunks * layout_.chunk,
                    (layout_.chunks - chunks) * layout_.chunk, nullptr},
                   Advice::do_not_need);
  }
  for (std::uint64_t i = 0; i < layout_.first_slab(chunks); ++i) unpin(i);
}

}  // namespace holdall::embedding
