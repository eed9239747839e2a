#include "apps/policy/writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <system_error>

#include "apps/policy/error.hpp"
#include "apps/policy/trace.hpp"

namespace holdall::lab {

namespace {
constexpr std::array<const char*, trace_remove + 1> kind_names{
    "read", "both", "overwrite", "in_place", "prefetch", "hint", "remove"};
}

const std::vector<std::string>& written_formats() {
  static const std::vector<std::string> all{"holdall", "oracleGeneral", "csv", "txt"};
  return all;
}

Writer::Writer(const std::string& path, const std::string& format)
    : path_(path == "-" ? "standard output" : path) {
  const auto& all = written_formats();
  const auto found = std::ranges::find(all, format);
  if (found == all.end())
    throw LabError(
        fmt::format("no format '{}' to write; there are holdall, oracleGeneral, csv, txt", format));
  format_ = static_cast<Format>(found - all.begin());
  if (path == "-") {
    stream_ = stdout;
  } else {
    try {
      stream_ = file_.emplace(path).stream();
    } catch (const std::system_error& e) {
      fail(e.code().value());
    }
  }
  if (format_ == holdall) std::fwrite(trace_magic, 8, 1, stream_);
  if (format_ == csv) std::fputs("time,key,size,op,next\n", stream_);
}

void Writer::fail(int error) const {
  throw LabError(fmt::format("{}: cannot be written: {}", path_, why(error)));
}

void Writer::append(const TraceRecord& record) {
  std::FILE* const file = stream_;
  fmt::memory_buffer line;
  switch (format_) {
    case holdall:
      std::fwrite(&record, sizeof record, 1, file);
      break;
    case oracle_general: {
      if (record.kind >= trace_prefetch)
        throw LabError(fmt::format(
            "{}: record {}: oracleGeneral has no word for a {}: leave them out with `trace filter "
            "--kind`, or write holdall",
            path_, records_, kind_names[record.kind]));
      if (record.bytes >> 32 != 0)
        throw LabError(fmt::format(
            "{}: record {}: oracleGeneral has sizes below 4 GiB, this is {}: write holdall", path_,
            records_, record.bytes));
      std::array<char, 24> bytes;
      const auto seconds = static_cast<std::uint32_t>(record.time / 1'000'000'000);
      const std::uint64_t key = key_of(record);
      const auto size = static_cast<std::uint32_t>(record.bytes);
      const auto next = static_cast<std::int64_t>(record.next_use);  // never is -1 in both
      std::memcpy(bytes.data(), &seconds, 4);
      std::memcpy(bytes.data() + 4, &key, 8);
      std::memcpy(bytes.data() + 12, &size, 4);
      std::memcpy(bytes.data() + 16, &next, 8);
      std::fwrite(bytes.data(), bytes.size(), 1, file);
      break;
    }
    case csv:
      fmt::format_to(std::back_inserter(line), "{}.{:09},{},{},{},{}\n",
                     record.time / 1'000'000'000, record.time % 1'000'000'000, key_of(record),
                     record.bytes, kind_names[record.kind],
                     static_cast<std::int64_t>(record.next_use));
      break;
    case txt:
      fmt::format_to(std::back_inserter(line), "{}\n", key_of(record));
  }
  if (line.size() > 0) std::fwrite(line.data(), line.size(), 1, file);
  if (std::ferror(file)) fail(errno);
  ++records_;
}

void Writer::close() {
  if (!stream_) return;
  try {
    if (file_)
      file_->finish();
    else if (std::fflush(stream_) != 0)
      fail(errno);
  } catch (const std::system_error& e) {
    fail(e.code().value());
  }
  stream_ = nullptr;
}

}  // namespace holdall::lab
