#include "apps/policy/writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
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
  std::error_code none;
  if (path != "-" &&
      (!std::filesystem::exists(path, none) || std::filesystem::is_regular_file(path, none)))
    unfinished_ = path + ".unfinished";
  file_.reset(path == "-" ? stdout
                          : std::fopen((unfinished_.empty() ? path : unfinished_).c_str(), "wb"));
  if (!file_) throw LabError(fmt::format("{}: cannot be written: {}", path_, std::strerror(errno)));
  if (format_ == holdall) std::fwrite(trace_magic, 8, 1, file_.get());
  if (format_ == csv) std::fputs("time,key,size,op,next\n", file_.get());
}

Writer::~Writer() {
  if (!unfinished_.empty()) std::remove(unfinished_.c_str());
}

void Writer::append(const TraceRecord& record) {
  std::FILE* const file = file_.get();
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
      fmt::print(file, "{}.{:09},{},{},{},{}\n", record.time / 1'000'000'000,
                 record.time % 1'000'000'000, key_of(record), record.bytes, kind_names[record.kind],
                 static_cast<std::int64_t>(record.next_use));
      break;
    case txt:
      fmt::print(file, "{}\n", key_of(record));
  }
  ++records_;
}

void Writer::close() {
  if (!file_) return;
  errno = 0;
  bool whole = std::fflush(file_.get()) == 0 && std::ferror(file_.get()) == 0;
  std::FILE* const file = file_.release();
  if (file != stdout) whole = std::fclose(file) == 0 && whole;
  if (whole && !unfinished_.empty()) {
    whole = std::rename(unfinished_.c_str(), path_.c_str()) == 0;
    if (whole) unfinished_.clear();
  }
  if (!whole) throw LabError(fmt::format("{}: is not whole: {}", path_, std::strerror(errno)));
}

}  // namespace holdall::lab
