// .safetensors: the length of a header in 8 bytes, a JSON object that gives for each tensor its
// type, shape and the bytes it takes behind the header, then those bytes.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apps/embedding/flat_source.hpp"

namespace holdall::embedding {

namespace {

struct Tensor {
  std::string type;
  std::vector<std::uint64_t> shape;
  Bytes begin = 0, end = 0;  // behind the header
};

Tensor tensor_of(const File& file, const std::string& name, const nlohmann::json& entry) {
  try {
    Tensor tensor;
    tensor.type = entry.at("dtype").get<std::string>();
    for (const auto& size : entry.at("shape")) {
      if (!size.is_number_unsigned()) throw std::invalid_argument("shape");
      tensor.shape.push_back(size.get<std::uint64_t>());
    }
    const auto& bytes = entry.at("data_offsets");
    if (bytes.size() != 2 || !bytes[0].is_number_unsigned() || !bytes[1].is_number_unsigned())
      throw std::invalid_argument("data_offsets");
    tensor.begin = bytes[0].get<Bytes>();
    tensor.end = bytes[1].get<Bytes>();
    return tensor;
  } catch (const std::exception&) {
    refuse(file.path(), fmt::format("has a header that does not say dtype, shape and data_offsets "
                                    "of tensor '{}' as it should",
                                    name.substr(0, 60)));
  }
}

void check_bytes(const File& file, const std::string& name, const Tensor& tensor, Bytes data,
                 Bytes element) {
  Bytes needed = element;
  for (const std::uint64_t size : tensor.shape) needed = product(file, needed, size);
  if (tensor.begin > tensor.end || tensor.end - tensor.begin != needed)
    refuse(file.path(), fmt::format("gives tensor '{}' bytes {} to {}; its shape needs {}",
                                    name.substr(0, 60), tensor.begin, tensor.end, needed));
  if (tensor.end > file.bytes() - data)
    refuse(file.path(), fmt::format("is cut short: tensor '{}' ends {} bytes behind the header, "
                                    "but the file has {} there",
                                    name.substr(0, 60), tensor.end, file.bytes() - data));
}

}  // namespace

std::unique_ptr<Source> open_safetensors(const std::filesystem::path& path,
                                         const std::string& wanted) {
  const auto file = std::make_shared<File>(path);
  // 1. the header
  std::uint64_t length = 0;
  if (file->bytes() < 8) refuse(path, "is no .safetensors file: it has fewer than 8 bytes");
  file->read(0, &length, 8);
  if (length > file->bytes() - 8 || length > (Bytes{100} << 20))
    refuse(path,
           fmt::format("is no .safetensors file: a header of {} bytes has no room in it", length));
  std::string text(length, '\0');
  file->read(8, text.data(), length);
  const nlohmann::json header = nlohmann::json::parse(text, nullptr, false);
  if (!header.is_object()) refuse(path, "has a header that is no JSON object");
  const Bytes data = 8 + length;

  // 2. which tensor: the one that is named, `rows`, or the only one of two dimensions
  std::string name = wanted;
  std::string all;
  std::uint64_t tables = 0;
  for (const auto& [key, entry] : header.items()) {
    if (key == "__metadata__") continue;
    all += (all.empty() ? "" : ", ") + key.substr(0, 60);
    if (!wanted.empty() || name == "rows") continue;
    if (key == "rows" || tensor_of(*file, key, entry).shape.size() == 2) {
      name = key;
      ++tables;
    }
  }
  if (name.empty() || (wanted.empty() && name != "rows" && tables != 1) || !header.contains(name))
    refuse(path, wanted.empty()
                     ? fmt::format("has {} tensors of two dimensions: name one of {}", tables,
                                   all.substr(0, 400))
                     : fmt::format("has no tensor '{}'; there are {}", wanted, all.substr(0, 400)));
  const Tensor rows = tensor_of(*file, name, header[name]);
  if (rows.shape.size() != 2)
    refuse(path,
           fmt::format("tensor '{}' has {} dimensions; a table has two", name, rows.shape.size()));
  RowType type = RowType::fp32;
  if (rows.type == "F16") {
    type = RowType::fp16;
  } else if (rows.type == "BF16") {
    type = RowType::bf16;
  } else if (rows.type != "F32") {
    refuse(path, fmt::format("tensor '{}' is of type {}; F32, F16 and BF16 can be read", name,
                             rows.type.substr(0, 20)));
  }
  check_bytes(*file, name, rows, data, kernels::element_bytes(type));
  if (rows.shape[1] == 0 || rows.shape[1] > 1u << 24)
    refuse(path, fmt::format("tensor '{}' has rows of {} elements", name, rows.shape[1]));

  // 3. its keys, where it is one that was saved with them
  const bool keyed = name == "rows" && header.contains("keys");
  SourceInfo info{path.string(), rows.shape[0], static_cast<std::uint32_t>(rows.shape[1]), type,
                  keyed};
  if (!keyed) return flat_source(std::move(info), {file, data + rows.begin});
  const Tensor keys = tensor_of(*file, "keys", header["keys"]);
  if ((keys.type != "U64" && keys.type != "I64") || keys.shape.size() != 1 ||
      keys.shape[0] != info.rows)
    refuse(path,
           fmt::format("tensor 'keys' is not a list of {} numbers of type U64 or I64", info.rows));
  check_bytes(*file, "keys", keys, data, 8);
  return flat_source(std::move(info), {file, data + rows.begin}, {file, data + keys.begin});
}

}  // namespace holdall::embedding
