// Writing a version to a file, and rows to ordinary memory.
#include <fmt/format.h>

#include <algorithm>

#include "apps/embedding/file.hpp"
#include "apps/embedding/header.hpp"
#include "apps/embedding/version.hpp"

namespace holdall::embedding {

void Version::export_rows(const std::uint64_t* keys, std::uint64_t n, float* rows,
                          std::uint8_t* found) {
  const std::scoped_lock hold(boundary_lock_);
  const kernels::LookupIn in{.keys = keys, .count = n, .found = found};
  turns_.read(stream_, [&] {
    kernels::gather(view_, in, {rows, RowType::fp32, spec_.dim * 4ull}, stream_);
  });
  engine_.synchronize(stream_);
}

// The keys that there are, in the order of their numbers or, if hashed, of their slots.
std::vector<std::uint64_t> Version::live_keys() {
  std::vector<std::uint64_t> keys;
  std::vector<std::uint32_t> entries(view_.entries != nullptr ? view_.entry_count : 0);
  std::vector<std::uint64_t> slots(view_.keys != nullptr ? view_.entry_count : 0);
  if (!entries.empty()) engine_.store(entries_.range(), 0, std::span<std::uint32_t>(entries));
  if (!slots.empty()) engine_.store(keys_.range(), 0, std::span<std::uint64_t>(slots));
  for (std::uint64_t entry = 0; entry < view_.entry_count; ++entry)
    if (entries.empty() || entries[entry] != kernels::nowhere)
      keys.push_back(slots.empty() ? entry : slots[entry]);
  return keys;
}

std::vector<std::uint64_t> Version::order_for(const SourceInfo& next) {
  if (view_.entries == nullptr || view_.keys != nullptr || next.keyed || next.rows != rows_)
    return {};
  const std::scoped_lock hold(boundary_lock_);
  const std::unique_lock writers = turns_.hold_writers(stream_);
  engine_.synchronize(stream_);
  std::vector<std::uint32_t> entries(view_.entry_count);
  engine_.store(entries_.range(), 0, std::span<std::uint32_t>(entries));
  std::vector<std::uint64_t> order(rows_);
  for (std::uint64_t row = 0; row < rows_; ++row)
    order[row] = std::uint64_t{kernels::nowhere} - entries[row];
  return order;
}

void Version::save(const std::filesystem::path& path) {
  const bool npy = path.extension() == ".npy";
  if (!npy && path.extension() != ".safetensors")
    throw EmbeddingError(fmt::format("{}: rows are saved as .safetensors or .npy", path.string()));
  // 1. what there is; nobody writes until it is saved
  const std::scoped_lock hold(boundary_lock_);
  const std::unique_lock writers = turns_.hold_writers(stream_);
  engine_.synchronize(stream_);
  const std::vector<std::uint64_t> keys = live_keys();
  const bool numbered = view_.keys == nullptr && (keys.empty() || keys.back() + 1 == keys.size());
  if (npy && !numbered)
    throw EmbeddingError(fmt::format(
        "{}: a .npy file has no place for keys, and those of table '{}' are not the numbers from 0 "
        "on: save it as .safetensors",
        path.string(), spec_.name));
  const RowType type = spec_.type == RowType::int8 || (npy && spec_.type == RowType::bf16)
                           ? RowType::fp32
                           : spec_.type;

  // 2. the header
  const Bytes row = Bytes{spec_.dim} * kernels::element_bytes(type);
  NewFile file(path);
  const std::string header = npy ? npy_header(type, keys.size(), spec_.dim)
                                 : safetensors_header(type, keys.size(), spec_.dim, !numbered);
  file.write(0, header.data(), header.size());

  // 3. rows, piece by piece, then the keys
  const std::uint64_t piece = std::clamp<std::uint64_t>((Bytes{16} << 20) / row, 1, 1 << 20);
  const auto staged_keys = engine_.host_array<std::uint64_t>(piece, "keys to save");
  const auto staged_rows = engine_.host_array<std::byte>(piece * row, "rows to save");
  for (std::uint64_t first = 0; first < keys.size(); first += piece) {
    const std::uint64_t n = std::min(piece, keys.size() - first);
    std::copy_n(keys.data() + first, n, staged_keys.data());
    turns_.read(stream_, [&] {
      kernels::gather(view_, {.keys = staged_keys.data(), .count = n},
                      {staged_rows.data(), type, row}, stream_);
    });
    engine_.synchronize(stream_);
    file.write(header.size() + first * row, staged_rows.data(), n * row);
  }
  if (!numbered)
    file.write(header.size() + keys.size() * row, keys.data(), keys.size() * sizeof(keys[0]));
  file.finish();
}

}  // namespace holdall::embedding
