#include "tests/policies/trace_file.hpp"

#include <zstd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <unordered_map>

namespace holdall {

namespace {

std::string contents(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  if (!in) throw std::runtime_error("cannot read " + file.string());
  return bytes;
}

std::string unpack(const std::string& packed) {
  ZSTD_DCtx* context = ZSTD_createDCtx();
  std::string bytes, block(ZSTD_DStreamOutSize(), '\0');
  ZSTD_inBuffer in{packed.data(), packed.size(), 0};
  std::size_t left = 1;
  while (in.pos < in.size && !ZSTD_isError(left)) {
    ZSTD_outBuffer out{block.data(), block.size(), 0};
    left = ZSTD_decompressStream(context, &out, &in);
    bytes.append(block, 0, out.pos);
  }
  ZSTD_freeDCtx(context);
  if (left != 0) throw std::runtime_error("the zstd stream is damaged or cut short");
  return bytes;
}

}  // namespace

std::optional<std::filesystem::path> trace_folder() {
  const char* named = std::getenv("HOLDALL_DATA");
  const auto folder =
      (named != nullptr ? std::filesystem::path(named)
                        : std::filesystem::path(HOLDALL_SOURCE_ROOT) / ".." / "shared/data") /
      "traces";
  return std::filesystem::is_directory(folder) ? std::optional(folder) : std::nullopt;
}

std::vector<Key> read_trace(const std::filesystem::path& file) {
  constexpr std::size_t record = 24, id_at = 4;
  const std::string bytes = unpack(contents(file));
  if (bytes.size() % record != 0) throw std::runtime_error(file.string() + " is no oracleGeneral");
  std::unordered_map<std::uint64_t, std::uint64_t> numbers;
  std::vector<Key> keys;
  keys.reserve(bytes.size() / record);
  for (std::size_t at = 0; at < bytes.size(); at += record) {
    std::uint64_t id = 0;
    std::memcpy(&id, bytes.data() + at + id_at, sizeof id);
    keys.push_back(Key{numbers.emplace(id, numbers.size()).first->second});
  }
  return keys;
}

std::vector<ReferenceCount> read_reference(const std::filesystem::path& file) {
  std::istringstream lines(contents(file));
  std::vector<ReferenceCount> counts;
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::istringstream columns(line);
    ReferenceCount c{};
    std::string capacity, requests, misses;
    std::getline(columns, c.trace, ',');
    std::getline(columns, c.algorithm, ',');
    std::getline(columns, c.parameters, ',');
    std::getline(columns, capacity, ',');
    std::getline(columns, requests, ',');
    std::getline(columns, misses, ',');
    c.capacity = std::stoull(capacity);
    c.requests = std::stoull(requests);
    c.misses = std::stoull(misses);
    counts.push_back(c);
  }
  return counts;
}

}  // namespace holdall
