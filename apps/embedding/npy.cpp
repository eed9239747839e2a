// NumPy's .npy: a magic number, a version, the length of a header, and that: a Python dictionary
// with the type of the elements, their order and the shape; then the elements. (NEP 1.)
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "apps/embedding/flat_source.hpp"

namespace holdall::embedding {

namespace {

struct Npy {
  std::shared_ptr<File> file;
  std::string type;
  std::vector<std::uint64_t> shape;
  Bytes data = 0;
};

// The text of a dictionary's value, from behind "'key':" on.
std::string_view value_of(const File& file, std::string_view header, std::string_view key) {
  for (const char quote : {'\'', '"'}) {
    const std::string name = quote + std::string(key) + quote;
    const std::size_t at = header.find(name);
    if (at == header.npos) continue;
    const std::size_t colon = header.find_first_not_of(' ', at + name.size());
    if (colon == header.npos || header[colon] != ':') break;
    const std::size_t value = header.find_first_not_of(' ', colon + 1);
    if (value == header.npos) break;
    return header.substr(value);
  }
  refuse(file.path(), fmt::format("has no '{}' in its header", key));
}

std::vector<std::uint64_t> shape_of(const File& file, std::string_view text) {
  const std::size_t end = text.find(')');
  if (text.empty() || text[0] != '(' || end == text.npos)
    refuse(file.path(), "has no shape in its header");
  std::vector<std::uint64_t> shape;
  text = text.substr(1, end - 1);
  while (!text.empty()) {
    const std::size_t skip = text.find_first_not_of(" ,");
    if (skip == text.npos) break;
    text.remove_prefix(skip);
    std::uint64_t number = 0;
    std::size_t digits = 0;
    while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
      if (number > (std::uint64_t{1} << 58)) refuse(file.path(), "has a shape that no file has");
      number = number * 10 + static_cast<std::uint64_t>(text[digits++] - '0');
    }
    if (digits == 0) refuse(file.path(), fmt::format("has a shape of '{}'", text.substr(0, 20)));
    shape.push_back(number);
    text.remove_prefix(digits);
  }
  return shape;
}

Npy read_header(const std::filesystem::path& path) {
  Npy npy{std::make_shared<File>(path), {}, {}, 0};
  const File& file = *npy.file;
  // 1. magic, version, length
  unsigned char start[12] = {};
  file.read(0, start, std::min<Bytes>(file.bytes(), sizeof(start)));
  if (std::memcmp(start, "\x93NUMPY", 6) != 0)
    refuse(path, "is no .npy file: it does not begin with \\x93NUMPY");
  const int version = start[6];
  if (version < 1 || version > 3)
    refuse(path, fmt::format("is of version {} of the format; 1 to 3 are known", version));
  const Bytes before = version == 1 ? 10 : 12;
  Bytes length = start[8] | Bytes{start[9]} << 8;
  if (version > 1) length |= Bytes{start[10]} << 16 | Bytes{start[11]} << 24;
  if (length > (Bytes{1} << 20) || before + length > file.bytes())
    refuse(path, fmt::format("has a header of {} bytes, which it has no room for", length));
  npy.data = before + length;
  std::string header(length, '\0');
  file.read(before, header.data(), length);

  // 2. the dictionary
  const std::string_view order = value_of(file, header, "fortran_order");
  if (!order.starts_with("False"))
    refuse(path, "has its columns one behind the other (fortran_order): save it in C order");
  const std::string_view type = value_of(file, header, "descr");
  if (type[0] != '\'' && type[0] != '"') refuse(path, "has elements of several fields");
  npy.type = type.substr(1, type.find(type[0], 1) - 1);
  npy.shape = shape_of(file, value_of(file, header, "shape"));
  return npy;
}

}  // namespace

std::unique_ptr<Source> open_npy(const std::filesystem::path& path) {
  Npy npy = read_header(path);
  if (npy.shape.size() != 2)
    refuse(path, fmt::format("has {} dimensions; a table has two, rows and their elements",
                             npy.shape.size()));
  if (npy.type != "<f4" && npy.type != "<f2")
    refuse(path, fmt::format("has elements of type '{}'; '<f4' and '<f2' can be read",
                             npy.type.substr(0, 20)));
  if (npy.shape[1] == 0 || npy.shape[1] > 1u << 24)
    refuse(path, fmt::format("has rows of {} elements", npy.shape[1]));
  return flat_source({path.string(), npy.shape[0], static_cast<std::uint32_t>(npy.shape[1]),
                      npy.type == "<f4" ? RowType::fp32 : RowType::fp16, false},
                     {npy.file, npy.data});
}

std::vector<std::uint64_t> read_frequencies(const std::filesystem::path& path) {
  const Npy npy = read_header(path);
  const bool wide = npy.type == "<u8" || npy.type == "<i8";
  if (npy.shape.size() != 1 || (!wide && npy.type != "<u4" && npy.type != "<i4"))
    refuse(path, fmt::format("is no list of counts: one dimension of '<u8', '<i8', '<u4' or "
                             "'<i4', not {} of '{}'",
                             npy.shape.size(), npy.type.substr(0, 20)));
  const std::uint64_t n = npy.shape[0];
  const Bytes needed = product(*npy.file, n, wide ? 8 : 4);
  if (needed > npy.file->bytes() - npy.data)
    refuse(path, fmt::format("is cut short: {} counts need {} bytes", n, needed));
  std::vector<std::uint64_t> counts(n);
  if (wide) {
    npy.file->read(npy.data, counts.data(), needed);
  } else {
    std::vector<std::uint32_t> narrow(n);
    npy.file->read(npy.data, narrow.data(), needed);
    std::ranges::copy(narrow, counts.begin());
  }
  const std::uint64_t sign = std::uint64_t{1} << (wide ? 63 : 31);
  if (npy.type[1] == 'i')
    for (std::uint64_t i = 0; i < n; ++i)
      if ((counts[i] & sign) != 0) refuse(path, fmt::format("has a count below 0, at {}", i));
  return counts;
}

}  // namespace holdall::embedding
