#include "apps/graph/hold.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

namespace holdall::graph {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

namespace {

// The first version that has weights, and the first whose ids may be of 64 bits.
constexpr std::uint32_t first_version = 1, weighted_version = 2, wide_version = 3;
constexpr std::uint64_t directed_flag = 1, weighted_flag = 2, float_flag = 4;
constexpr std::size_t table_begin = 64, entry_bytes = 64;
constexpr std::size_t checksum_at = hold_header_bytes - 8;
constexpr std::size_t most_entries = (checksum_at - table_begin) / entry_bytes;

template <typename T>
void put(HoldBlock& block, std::size_t at, T value) {
  std::memcpy(block.data() + at, &value, sizeof(value));
}
template <typename T>
T take(const HoldBlock& block, std::size_t at) {
  T value;
  std::memcpy(&value, block.data() + at, sizeof(value));
  return value;
}

std::uint64_t header_checksum(const HoldBlock& block) {
  return piece_checksum(std::span(block).first(checksum_at), 0);
}

// An entry's place against the file and its size against the counts.
std::optional<std::string> wrong_with(const HoldHeader::Entry& entry, const HoldHeader& header) {
  const FileArray& array = entry.array;
  if (array.offset % hold_alignment != 0 || array.offset < hold_header_bytes)
    return fmt::format("array {} begins at byte {}, not at a multiple of {}", entry.kind,
                       array.offset, hold_alignment);
  if (array.element_bytes == 0 || array.element_bytes > 4096 ||
      array.count > header.file_bytes / array.element_bytes ||
      array.bytes() > header.file_bytes - std::min(array.offset, header.file_bytes))
    return fmt::format("array {} of {} elements of {} bytes at byte {} leaves a file of {} bytes",
                       entry.kind, array.count, array.element_bytes, array.offset,
                       header.file_bytes);
  Bytes element_bytes = array.element_bytes;
  std::uint64_t count = array.count;
  switch (entry.kind) {
    case HoldHeader::out_offsets:
    case HoldHeader::in_offsets:
      element_bytes = 8;
      count = header.vertices + 1;
      break;
    case HoldHeader::out_neighbours:
    case HoldHeader::in_neighbours:
      element_bytes = header.id_bytes;
      count = header.edges;
      break;
    case HoldHeader::out_weights:
    case HoldHeader::in_weights:
      element_bytes = 4;
      count = header.edges;
      break;
    case HoldHeader::original_ids:
      element_bytes = header.id_bytes;
      count = header.vertices;
      break;
    default:
      break;
  }
  if (array.element_bytes == element_bytes && array.count == count) return {};
  return fmt::format("array {} has {} elements of {} bytes; expected {} of {}", entry.kind,
                     array.count, array.element_bytes, count, element_bytes);
}

}  // namespace

FileArray HoldHeader::array(Kind kind) const {
  const auto found = std::ranges::find(arrays, std::uint32_t{kind}, &Entry::kind);
  return found == arrays.end() ? FileArray{} : found->array;
}

HoldBlock encode(const HoldHeader& header) {
  HoldBlock block{};
  std::memcpy(block.data(), hold_magic.data(), hold_magic.size());
  const bool weighted = header.weights != Weights::none;
  put(block, 8, header.id_bytes == 8 ? wide_version : weighted ? weighted_version : first_version);
  put(block, 12, static_cast<std::uint32_t>(hold_header_bytes));
  put(block, 16,
      (header.directed ? directed_flag : 0) | (weighted ? weighted_flag : 0) |
          (header.weights == Weights::float32 ? float_flag : 0));
  put(block, 24, header.vertices);
  put(block, 32, header.edges);
  put(block, 40, hold_alignment);
  put(block, 48, header.file_bytes);
  put(block, 56, static_cast<std::uint32_t>(header.arrays.size()));
  for (std::size_t i = 0; i < header.arrays.size(); ++i) {
    const std::size_t at = table_begin + i * entry_bytes;
    const HoldHeader::Entry& entry = header.arrays[i];
    put(block, at, entry.kind);
    put(block, at + 4, static_cast<std::uint32_t>(entry.array.element_bytes));
    put(block, at + 8, entry.array.offset);
    put(block, at + 16, entry.array.count);
    put(block, at + 24, entry.array.checksum);
  }
  put(block, checksum_at, header_checksum(block));
  return block;
}

std::variant<HoldHeader, HoldFault> decode(const HoldBlock& block) {
  if (std::memcmp(block.data(), hold_magic.data(), hold_magic.size()) != 0)
    return HoldFault{0, "the mark of a .hold file is damaged"};
  const auto found = take<std::uint32_t>(block, 8);
  if (found < first_version || found > wide_version)
    return HoldFault{
        8, fmt::format("version {} of the format; this program reads versions {} to {}", found,
                       first_version, wide_version)};
  if (take<std::uint64_t>(block, checksum_at) != header_checksum(block))
    return HoldFault{checksum_at, "the header does not match its checksum"};
  const auto flags = take<std::uint64_t>(block, 16);
  const std::uint64_t known =
      found >= weighted_version ? directed_flag | weighted_flag | float_flag : directed_flag;
  if ((flags & ~known) != 0)
    return HoldFault{16, fmt::format("flags {:#x}; version {} knows {:#x}", flags, found, known)};
  if ((flags & float_flag) != 0 && (flags & weighted_flag) == 0)
    return HoldFault{16, fmt::format("flags {:#x}: the kind of weights, and no weights", flags)};

  HoldHeader header;
  header.directed = (flags & directed_flag) != 0;
  if ((flags & weighted_flag) != 0)
    header.weights = (flags & float_flag) != 0 ? Weights::float32 : Weights::int32;
  header.vertices = take<std::uint64_t>(block, 24);
  header.edges = take<std::uint64_t>(block, 32);
  header.id_bytes = found == wide_version ? 8 : 4;
  header.file_bytes = take<std::uint64_t>(block, 48);
  const std::uint64_t most = header.id_bytes == 4 ? std::uint64_t{1} << 32 : std::uint64_t{1} << 48;
  if (header.vertices == 0 || header.vertices > most)
    return HoldFault{24, fmt::format("{} vertices; expected 1 to {}", header.vertices, most)};
  const auto count = take<std::uint32_t>(block, 56);
  if (count > most_entries)
    return HoldFault{56, fmt::format("{} arrays; expected at most {}", count, most_entries)};
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = table_begin + i * entry_bytes;
    HoldHeader::Entry entry;
    entry.kind = take<std::uint32_t>(block, at);
    entry.array.element_bytes = take<std::uint32_t>(block, at + 4);
    entry.array.offset = take<std::uint64_t>(block, at + 8);
    entry.array.count = take<std::uint64_t>(block, at + 16);
    entry.array.checksum = take<std::uint64_t>(block, at + 24);
    if (auto wrong = wrong_with(entry, header)) return HoldFault{at, *wrong};
    header.arrays.push_back(entry);
  }
  using enum HoldHeader::Kind;
  std::vector<HoldHeader::Kind> needed = {out_offsets, out_neighbours};
  if (header.directed) needed.insert(needed.end(), {in_offsets, in_neighbours});
  if (header.weights != Weights::none) needed.push_back(out_weights);
  if (header.weights != Weights::none && header.directed) needed.push_back(in_weights);
  for (const auto kind : needed)
    if (header.array(kind).element_bytes == 0)
      return HoldFault{table_begin,
                       fmt::format("there is no array {}", static_cast<std::uint32_t>(kind))};
  return header;
}

std::uint64_t piece_checksum(std::span<const std::byte> bytes, std::uint64_t number) {
  constexpr std::uint64_t factor = 0x9e3779b97f4a7c15;
  std::uint64_t sum = (number + 1) * factor;
  const auto add = [&](std::uint64_t word) {
    sum = (sum ^ word) * factor;
    sum ^= sum >> 32;
  };
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data() + at, 8);
    add(word);
  }
  if (at < bytes.size()) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, bytes.size() - at);
    add(word);
  }
  return sum;
}

}  // namespace holdall::graph
