// Updates, inserts, erasures.
#include <fmt/format.h>

#include <algorithm>

#include "apps/embedding/version.hpp"

namespace holdall::embedding {

void Version::need_entries(const char* what) const {
  if (view_.entries != nullptr) return;
  throw EmbeddingError(fmt::format(
      "table '{}' cannot {}: its rows lie in the order of their numbers, without entries; open it "
      "with a capacity above its {} rows, hashed keys, frequencies or learning",
      spec_.name, what, rows_));
}

void Version::write(const std::uint64_t* keys, std::uint64_t n, const RowsIn& rows, bool insert,
                    Stream stream) {
  if (rows.type == RowType::int8)
    throw EmbeddingError(
        fmt::format("table '{}': rows to write are fp32, fp16 or bf16, not int8", spec_.name));
  if (insert) need_entries("insert");
  if (n == 0) return;
  const std::scoped_lock hold(write_lock_);
  // 1. room; lists that are too small may still be in use on another stream
  const int device = device_of(stream);
  WriteWork& work = write_work_[device];
  if (!work.lists)
    work.lists = std::make_unique<StreamWork>(engine_, streams_each_[device], device,
                                              view_.cold_row, streams_);
  if (n > work.room) {
    turns_.drain();
    work.room = std::bit_ceil(n);
    work.lists->make_room(1, static_cast<std::uint32_t>(work.room), StreamWork::Staged::none);
  }
  const kernels::ColdList list = work.lists->list(static_cast<std::uint32_t>(n));
  const kernels::ColdList sorted = work.lists->sorted(static_cast<std::uint32_t>(n));

  // 2. find, order, write; nobody reads meanwhile
  turns_.write(stream, [&] {
    if (insert) kernels::insert(view_, keys, n, free_places(), stream);
    kernels::find(view_, keys, n, list, tallies_.data() + 2, stream);
    kernels::sort_list(list, sorted, 0, work.lists->sorting(), stream);
    kernels::write_rows(view_, sorted, rows, stream);
  });
}

void Version::erase(const std::uint64_t* keys, std::uint64_t n, Stream stream) {
  need_entries("erase");
  (void)device_of(stream);  // of the engine's
  turns_.write(stream, [&] { kernels::erase(view_, keys, n, free_places(), stream); });
}

}  // namespace holdall::embedding
