// Where a table's rows come from: files of several formats, or a function. Read once, piece by
// piece, without a second copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/vmm/bytes.hpp"
#include "kernels/row.hpp"

namespace holdall::embedding {

using kernels::RowType;

struct SourceInfo {
  std::string name;  // in messages: a path, or what the caller calls it
  std::uint64_t rows = 0;
  std::uint32_t dim = 0;
  RowType type = RowType::fp32;  // fp32, fp16 or bf16
  bool keyed = false;            // each row has a 64-bit key; otherwise its number is its key
};

class Source {
 public:
  virtual ~Source() = default;
  virtual const SourceInfo& info() const = 0;
  // Rows [first, first + count), one behind the other. Thread-safe. Throws EmbeddingError.
  virtual void read_rows(std::uint64_t first, std::uint64_t count, std::byte* to) const = 0;
  // Their keys, where keyed.
  virtual void read_keys(std::uint64_t first, std::uint64_t count, std::uint64_t* to) const;
};

// Opens by what is there: .npy (two dimensions), .safetensors, a folder as HugeCTR writes it
// (`key`, `emb_vector`), or a HierarchicalKV prefix (PREFIX.keys, PREFIX.values). `dim` is needed
// where the format has none (the last two); `tensor` names one of a .safetensors file that has
// several. Throws EmbeddingError, naming the file and what is wrong with it.
struct OpenOptions {
  std::uint32_t dim = 0;
  std::string tensor = {};
};
std::unique_ptr<Source> open_source(const std::filesystem::path& path,
                                    const OpenOptions& options = {});

std::unique_ptr<Source> open_npy(const std::filesystem::path& path);
std::unique_ptr<Source> open_safetensors(const std::filesystem::path& path,
                                         const std::string& tensor = {});
// Numbers alone, from byte `offset` on.
std::unique_ptr<Source> open_raw(const std::filesystem::path& path, RowType type,
                                 std::uint64_t rows, std::uint32_t dim, Bytes offset = 0);
std::unique_ptr<Source> open_hps_folder(const std::filesystem::path& folder, std::uint32_t dim);
std::unique_ptr<Source> open_hkv_files(const std::filesystem::path& prefix, std::uint32_t dim);

// Rows that a function makes. It is called by several threads at once.
using FillRows = std::function<void(std::uint64_t first, std::uint64_t count, std::byte* to)>;
using FillKeys = std::function<void(std::uint64_t first, std::uint64_t count, std::uint64_t* to)>;
std::unique_ptr<Source> from_function(SourceInfo info, FillRows rows, FillKeys keys = {});

// A list of counts, one a row: a .npy file of one dimension, of unsigned or signed 32 or 64-bit
// whole numbers.
std::vector<std::uint64_t> read_frequencies(const std::filesystem::path& path);

}  // namespace holdall::embedding
