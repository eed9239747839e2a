#include "apps/embedding/row_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "apps/embedding/error.hpp"

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

Bytes RowStore::chunk_for(Bytes bytes) {
  return std::bit_floor(std::clamp<Bytes>(bytes / 64, Bytes{2} << 20, Bytes{64} << 20));
}

RowStore::RowStore(Engine& engine, Stream stream, std::string name, kernels::RowLayout row,
                   std::uint64_t positions, Bytes hot_bytes, Bytes chunk)
    : engine_(engine), name_(std::move(name)), row_(row), positions_(positions) {
  const Bytes bytes = std::max<Bytes>(positions * row.stride, 1);
  chunk_ = chunk > 0 ? chunk : chunk_for(bytes);
  chunks_ = (bytes + chunk_ - 1) / chunk_;
  shift_ = chunk_ % row.stride == 0 ? 0 : round_up(row.stride, Bytes{2} << 20);
  if (shift_ > chunk_)
    throw EmbeddingError(fmt::format("rows of '{}' take {} each, more than a chunk of {}", name_,
                                     to_string(Bytes{row.stride}), to_string(chunk_)));
  const std::uint64_t hot = std::min(chunks_, hot_bytes / chunk_);
  range_ = engine.reserve<std::byte>(chunks_ * chunk_, {.name = name_ + " rows",
                                                        .backing = std::make_shared<Nothing>(),
                                                        .chunk = chunk_,
                                                        .cold = Cold::unmapped});
  pinned_.resize(slabs());
  reserved_ = engine.pager().host_memory().reserve(shift_ + slabs() * chunk_, name_);
  cold_ = reserved_ + shift_;
  try {
    for (std::uint64_t i = hot; i < slabs(); ++i)
      if (hot < chunks_) pin(i);
    leases_.reserve(chunks_);
    while (hot_chunks_ < hot) {
      leases_.push_back(engine.acquire(stream, {overwrite(range_, hot_chunks_ * chunk_, chunk_)}));
      leases_.back().hand_over();
      ++hot_chunks_;
    }
  } catch (...) {
    for (std::uint64_t i = 0; i < slabs(); ++i) unpin(i);
    engine.pager().host_memory().unreserve(reserved_, shift_ + slabs() * chunk_);
    throw;
  }
}

RowStore::~RowStore() {
  leases_.clear();
  for (std::uint64_t i = 0; i < slabs(); ++i) unpin(i);
  engine_.pager().host_memory().unreserve(reserved_, shift_ + slabs() * chunk_);
}

std::uint32_t RowStore::hot_rows(std::uint64_t chunks) const {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(positions_, chunks * chunk_ / row_.stride));
}

void RowStore::pin(std::uint64_t chunk) {
  if (pinned_[chunk]) return;
  HostMemory& memory = engine_.pager().host_memory();
  memory.charge(chunk_, name_);
  try {
    memory.pin(slab(chunk), chunk_, name_);
  } catch (...) {
    memory.discharge(chunk_);
    throw;
  }
  pinned_[chunk] = true;
  host_bytes_ += chunk_;
}

void RowStore::unpin(std::uint64_t chunk) {
  if (!pinned_[chunk]) return;
  HostMemory& memory = engine_.pager().host_memory();
  memory.unpin(slab(chunk), chunk_);
  memory.discharge(chunk_);
  pinned_[chunk] = false;
  host_bytes_ -= chunk_;
}

void RowStore::make_room(Stream stream, std::uint64_t chunks) {
  const std::uint64_t before = leases_.size();
  try {
    while (leases_.size() < chunks) {
      leases_.push_back(
          engine_.acquire(stream, {overwrite(range_, leases_.size() * chunk_, chunk_)}));
      leases_.back().hand_over();
    }
    for (std::uint64_t i = chunks; i < slabs() && chunks < chunks_; ++i) pin(i);
  } catch (...) {
    leases_.resize(before);
    settle(hot_chunks_);
    throw;
  }
}

void RowStore::copy_between(Stream stream, std::uint64_t chunks) {
  const bool up = chunks > hot_chunks_;
  Bytes first = Bytes{hot_rows(std::min(chunks, hot_chunks_))} * row_.stride;
  const Bytes last = Bytes{hot_rows(std::max(chunks, hot_chunks_))} * row_.stride;
  while (first < last) {  // each side of a copy within one mapping, and one pinned slab
    const Bytes in_chunk = (first / chunk_ + 1) * chunk_;
    const Bytes in_slab = ((first + shift_) / chunk_ + 1) * chunk_ - shift_;
    const Bytes end = std::min({last, in_chunk, in_slab});
    std::byte* const hot_at = hot() + first;
    std::byte* const cold_at = cold_ + first;
    vmm::check(
        engine_.driver().copy(up ? hot_at : cold_at, up ? cold_at : hot_at, end - first, stream),
        "move rows of " + name_);
    first = end;
  }
}

void RowStore::settle(std::uint64_t chunks) {
  hot_chunks_ = chunks;
  if (leases_.size() > chunks) {
    leases_.resize(chunks);
    engine_.advise(
        {&range_.state(), Access::read, chunks * chunk_, (chunks_ - chunks) * chunk_, nullptr},
        Advice::do_not_need);
  }
  for (std::uint64_t i = 0; i < slabs(); ++i)
    if (i < chunks || chunks == chunks_) unpin(i);
}

}  // namespace holdall::embedding
