#include "apps/embedding/new_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "apps/embedding/error.hpp"

namespace holdall::embedding {

namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const char* doing) {
  const int reason = errno;
  throw EmbeddingError(
      fmt::format("{}: cannot {}: {}", path.string(), doing, std::strerror(reason)));
}

}  // namespace

NewFile::NewFile(std::filesystem::path path)
    : path_(std::move(path)), unfinished_(path_.string() + ".unfinished") {
  handle_ = ::open(unfinished_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (handle_ < 0) fail(unfinished_, "write it");
}

NewFile::~NewFile() {
  if (handle_ < 0) return;
  ::close(handle_);
  ::unlink(unfinished_.c_str());
}

void NewFile::write(Bytes offset, const void* from, Bytes bytes) {
  Bytes done = 0;
  while (done < bytes) {
    const ssize_t n = ::pwrite(handle_, static_cast<const char*>(from) + done, bytes - done,
                               static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(unfinished_, "write it");
    done += static_cast<Bytes>(n);
  }
}

void NewFile::finish() {
  if (::fsync(handle_) != 0) fail(unfinished_, "write it");
  ::close(handle_);
  handle_ = -1;
  if (::rename(unfinished_.c_str(), path_.c_str()) == 0) return;
  const int reason = errno;
  ::unlink(unfinished_.c_str());
  errno = reason;
  fail(path_, "give it its name");
}

std::string npy_header(kernels::RowType type, std::uint64_t rows, std::uint32_t dim) {
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}, {}), }}",
                                 type == kernels::RowType::fp16 ? "<f2" : "<f4", rows, dim);
  constexpr std::size_t before = 10;  // magic, version, length
  text.resize(round_up(before + text.size() + 1, 64) - before - 1, ' ');
  text += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

std::string safetensors_header(kernels::RowType type, std::uint64_t rows, std::uint32_t dim,
                               bool keyed) {
  using kernels::RowType;
  const Bytes end = rows * dim * kernels::element_bytes(type);
  nlohmann::json header;
  header["rows"] = {{"dtype", type == RowType::fp32   ? "F32"
                              : type == RowType::fp16 ? "F16"
                                                      : "BF16"},
                    {"shape", {rows, dim}},
                    {"data_offsets", {0, end}}};
  if (keyed)
    header["keys"] = {{"dtype", "U64"}, {"shape", {rows}}, {"data_offsets", {end, end + rows * 8}}};
  std::string text = header.dump();
  text.resize(round_up(text.size(), 8), ' ');
  std::string length(8, '\0');
  const std::uint64_t size = text.size();
  std::memcpy(length.data(), &size, 8);
  return length + text;
}

}  // namespace holdall::embedding
