#include "apps/embedding/flat_source.hpp"

#include <fmt/format.h>

#include <bit>

#include "apps/embedding/error.hpp"

namespace holdall::embedding {

static_assert(std::endian::native == std::endian::little, "files hold little-endian numbers");

namespace {

class Flat : public Source {
 public:
  Flat(SourceInfo info, FlatArray rows, FlatArray keys)
      : info_(std::move(info)),
        row_bytes_(Bytes{info_.dim} * kernels::element_bytes(info_.type)),
        rows_(std::move(rows)),
        keys_(std::move(keys)) {
    check(rows_, row_bytes_, "rows");
    if (info_.keyed) check(keys_, 8, "keys");
  }
  const SourceInfo& info() const override { return info_; }
  void read_rows(std::uint64_t first, std::uint64_t count, std::byte* to) const override {
    rows_.file->read(rows_.offset + first * row_bytes_, to, count * row_bytes_);
  }
  void read_keys(std::uint64_t first, std::uint64_t count, std::uint64_t* to) const override {
    if (!info_.keyed) return Source::read_keys(first, count, to);
    keys_.file->read(keys_.offset + first * 8, to, count * 8);
  }

 private:
  void check(const FlatArray& array, Bytes each, const char* what) const {
    const Bytes needed = product(*array.file, info_.rows, each);
    if (array.offset <= array.file->bytes() && needed <= array.file->bytes() - array.offset) return;
    refuse(
        array.file->path(),
        fmt::format("is cut short: {} {} of {} bytes from byte {} on need more than its {} bytes",
                    info_.rows, what, each, array.offset, array.file->bytes()));
  }

  SourceInfo info_;
  Bytes row_bytes_;
  FlatArray rows_, keys_;
};

std::uint32_t needed_dim(const std::filesystem::path& path, std::uint32_t dim) {
  if (dim == 0) refuse(path, "does not say how many elements a row has: give the dimension");
  return dim;
}

std::unique_ptr<Source> keyed_files(const std::string& name, const std::filesystem::path& keys,
                                    const std::filesystem::path& rows, std::uint32_t dim) {
  const auto key_file = std::make_shared<File>(keys);
  const auto row_file = std::make_shared<File>(rows);
  if (key_file->bytes() % 8 != 0)
    refuse(keys, fmt::format("has {} bytes, which are no whole number of 64-bit keys",
                             key_file->bytes()));
  const std::uint64_t count = key_file->bytes() / 8;
  const Bytes each = Bytes{dim} * 4;
  if (row_file->bytes() != product(*row_file, count, each))
    refuse(rows, fmt::format("has {} bytes; {} keys with rows of {} fp32 elements need {}",
                             row_file->bytes(), count, dim, count * each));
  return flat_source({name, count, dim, RowType::fp32, true}, {row_file, 0}, {key_file, 0});
}

}  // namespace

void refuse(const std::filesystem::path& path, const std::string& why) {
  throw EmbeddingError(fmt::format("{}: {}", path.string(), why));
}

std::uint64_t product(const File& file, std::uint64_t a, std::uint64_t b) {
  std::uint64_t both = 0;
  if (__builtin_mul_overflow(a, b, &both))
    refuse(file.path(), fmt::format("claims {} times {} bytes, which no file has", a, b));
  return both;
}

std::unique_ptr<Source> flat_source(SourceInfo info, FlatArray rows, FlatArray keys) {
  return std::make_unique<Flat>(std::move(info), std::move(rows), std::move(keys));
}

std::unique_ptr<Source> open_raw(const std::filesystem::path& path, RowType type,
                                 std::uint64_t rows, std::uint32_t dim, Bytes offset) {
  if (type == RowType::int8) refuse(path, "raw rows are fp32, fp16 or bf16, not int8");
  return flat_source({path.string(), rows, needed_dim(path, dim), type, false},
                     {std::make_shared<File>(path), offset});
}

std::unique_ptr<Source> open_hps_folder(const std::filesystem::path& folder, std::uint32_t dim) {
  return keyed_files(folder.string(), folder / "key", folder / "emb_vector",
                     needed_dim(folder, dim));
}

std::unique_ptr<Source> open_hkv_files(const std::filesystem::path& prefix, std::uint32_t dim) {
  const std::string start = prefix.string();
  if (std::error_code none; std::filesystem::exists(start + ".scores", none)) {
    const Bytes keys = File(start + ".keys").bytes();
    const Bytes scores = File(start + ".scores").bytes();
    if (keys != scores)
      refuse(start + ".scores",
             fmt::format("has {} bytes; as many scores as keys would have {}", scores, keys));
  }
  return keyed_files(start, start + ".keys", start + ".values", needed_dim(prefix, dim));
}

}  // namespace holdall::embedding
