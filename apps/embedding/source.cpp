#include "apps/embedding/source.hpp"

#include <fmt/format.h>

#include "apps/embedding/error.hpp"

namespace holdall::embedding {

namespace {

class Function : public Source {
 public:
  Function(SourceInfo info, FillRows rows, FillKeys keys)
      : info_(std::move(info)), rows_(std::move(rows)), keys_(std::move(keys)) {}
  const SourceInfo& info() const override { return info_; }
  void read_rows(std::uint64_t first, std::uint64_t count, std::byte* to) const override {
    rows_(first, count, to);
  }
  void read_keys(std::uint64_t first, std::uint64_t count, std::uint64_t* to) const override {
    keys_(first, count, to);
  }

 private:
  SourceInfo info_;
  FillRows rows_;
  FillKeys keys_;
};

}  // namespace

void Source::read_keys(std::uint64_t, std::uint64_t, std::uint64_t*) const {
  throw EmbeddingError(fmt::format("{} has no keys: open the table with dense ids", info().name));
}

std::unique_ptr<Source> from_function(SourceInfo info, FillRows rows, FillKeys keys) {
  if (info.type == RowType::int8)
    throw EmbeddingError(
        fmt::format("{}: a source gives fp32, fp16 or bf16 rows, not int8", info.name));
  info.keyed = static_cast<bool>(keys);
  return std::make_unique<Function>(std::move(info), std::move(rows), std::move(keys));
}

std::unique_ptr<Source> open_source(const std::filesystem::path& path, const OpenOptions& options) {
  if (path.extension() == ".npy") return open_npy(path);
  if (path.extension() == ".safetensors") return open_safetensors(path, options.tensor);
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return open_hps_folder(path, options.dim);
  if (std::filesystem::exists(path.string() + ".keys", ignored))
    return open_hkv_files(path, options.dim);
  throw EmbeddingError(fmt::format(
      "{}: no format is known by this name; give a .npy or .safetensors file, a folder with the "
      "files `key` and `emb_vector`, or the common start of a .keys and a .values file",
      path.string()));
}

}  // namespace holdall::embedding
