#include "apps/embedding/stream_work.hpp"

#include <bit>

namespace holdall::embedding {

StreamWork::StreamWork(Engine& engine, Stream stream, int device, kernels::RowLayout row,
                       const std::shared_ptr<Streams>& streams)
    : engine_(engine),
      stream_(stream),
      row_(row),
      beside_(streams, device),
      aside_(streams, device),
      counts_(engine, beside_, 1, "counters of look-ups"),
      told_counts_(engine.host_array<kernels::LookupCounts>(1, "counters of look-ups")) {
  engine_.synchronize(beside_);
  vmm::check(engine_.driver().create_event(here_, device), "create an event for look-ups");
  vmm::check(engine_.driver().create_event(told_, device), "create an event for look-ups");
  vmm::check(engine_.driver().create_event(copied_, device), "create an event for look-ups");
}

StreamWork::~StreamWork() {
  (void)engine_.driver().synchronize(beside_);
  (void)engine_.driver().synchronize(aside_);
  if (asking_) (void)engine_.driver().synchronize(told_);
  (void)engine_.driver().destroy_event(here_);
  (void)engine_.driver().destroy_event(told_);
  (void)engine_.driver().destroy_event(copied_);
}

void StreamWork::make_room(std::uint64_t n, std::uint32_t cold, Staged staged) {
  // Held by a lease on the stream beside, which lives as long as the engine; so what is replaced is
  // waited for here.
  bool grown = false;
  const auto resident = [&]<class T>(Resident<T>& array, std::uint64_t count, const char* name) {
    if (array.size() >= count) return;
    if (array.size() > 0) (void)engine_.driver().synchronize(stream_);
    array = {};
    array = Resident<T>(engine_, beside_, std::bit_ceil(count), name);
    grown = true;
  };
  resident(positions_, n, "positions of a look-up");
  if (cold > room_) {
    const std::uint32_t room = std::bit_ceil(cold);
    room_ = 0;
    resident(list_, header + 2 * std::uint64_t{room}, "cold keys of a look-up");
    resident(sorted_, header + 2 * std::uint64_t{room}, "sorted cold keys of a look-up");
    resident(sorting_, kernels::sort_list_bytes(room, stream_), "sorting of a look-up");
    room_ = room;
  }
  const std::uint64_t rows = std::uint64_t{cold} * row_.stride;
  if (staged == Staged::device) resident(device_rows_, rows, "fetched rows of bags");
  if (staged == Staged::host && host_list_.size() > 0 &&
      (host_list_.size() < header + cold || host_rows_.size() < rows))
    (void)engine_.driver().synchronize(stream_);
  if (staged == Staged::host && host_list_.size() < header + cold)
    host_list_ = engine_.host_array<std::uint32_t>(header + std::bit_ceil(cold), "cold keys");
  if (staged == Staged::host && host_rows_.size() < rows)
    host_rows_ = engine_.host_array<std::byte>(std::bit_ceil(rows), "cold rows");
  if (grown) engine_.synchronize(beside_);
}

kernels::ColdList StreamWork::list(std::uint32_t capacity) const {
  std::uint32_t* const at = list_.data();
  return {at, at + header, at + header + room_, capacity};
}
kernels::ColdList StreamWork::sorted(std::uint32_t capacity) const {
  std::uint32_t* const at = sorted_.data();
  return {at, at + header, at + header + room_, capacity};
}
kernels::ColdList StreamWork::on_cpu(std::uint32_t capacity) const {
  std::uint32_t* const at = host_list_.data();
  return {at, at + header, nullptr, capacity};
}

void StreamWork::order(Stream from, Stream to) {
  vmm::check(engine_.driver().record(here_, from), "order a look-up");
  vmm::check(engine_.driver().wait(to, here_), "order a look-up");
}

void StreamWork::ask(Stream stream) {
  const std::scoped_lock hold(telling_);
  if (asking_) return;
  vmm::check(engine_.driver().copy(told_counts_.data(), counts_.data(),
                                   sizeof(kernels::LookupCounts), stream),
             "read the counters of look-ups");
  vmm::check(engine_.driver().record(told_, stream), "read the counters of look-ups");
  asking_ = true;
}

kernels::LookupCounts StreamWork::told() {
  const std::scoped_lock hold(telling_);
  if (asking_ && engine_.driver().query(told_) == vmm::Status::ok) {
    last_ = told_counts_[0];
    asking_ = false;
  }
  return last_;
}

const kernels::PooledTable* StreamWork::tables(const kernels::PooledTable* from,
                                               std::uint64_t count, Stream stream) {
  vmm::Driver& driver = engine_.driver();
  vmm::check(driver.synchronize(copied_), "wait for the tables of the bags before");
  if (tables_.size() < count) {
    if (tables_.size() > 0) (void)driver.synchronize(stream);
    tables_ = {};
    tables_ = Resident<kernels::PooledTable>(engine_, beside_, count, "tables of bags");
    engine_.synchronize(beside_);
    host_tables_ = engine_.host_array<kernels::PooledTable>(count, "tables of bags");
  }
  std::copy_n(from, count, host_tables_.data());
  vmm::check(driver.copy(tables_.data(), host_tables_.data(), count * sizeof(*from), stream),
             "copy the tables of bags");
  vmm::check(driver.record(copied_, stream), "copy the tables of bags");
  return tables_.data();
}

}  // namespace holdall::embedding
