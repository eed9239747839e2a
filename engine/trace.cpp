#include "engine/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "engine/error.hpp"

namespace holdall {

TraceWriter::TraceWriter(const std::filesystem::path& path, const std::string& policy,
                         std::span<const std::uint64_t> budgets)
    : path_(path) {
  try {
    file_.emplace(path);
    const RecordingHeader header{static_cast<std::uint32_t>(budgets.size()),
                                 static_cast<std::uint32_t>(policy.size())};
    std::FILE* const file = file_->stream();
    if (std::fwrite(recording_magic, 8, 1, file) != 1 ||
        std::fwrite(&header, sizeof header, 1, file) != 1 ||
        std::fwrite(policy.data(), 1, policy.size(), file) != policy.size() ||
        std::fwrite(budgets.data(), sizeof budgets[0], budgets.size(), file) != budgets.size())
      error_ = errno;
  } catch (const std::system_error& e) {
    throw BackingError(
        fmt::format("cannot write the trace '{}': {}", path.string(), why(e.code().value())));
  }
}

void TraceWriter::append(TraceRecord record) {
  if (!file_) return;
  if (!began_) began_ = record.time;
  // Hits are told after the faults of later calls; the order of the records counts, so time stands
  // still for them.
  latest_ = std::max(latest_, record.time);
  record.time = latest_ - began_;
  if (std::fwrite(&record, sizeof record, 1, file_->stream()) != 1 && !error_) error_ = errno;
}

void TraceWriter::close() {
  if (!file_) return;
  if (std::uncaught_exceptions() > exceptions_) return file_.reset();
  if (!error_) try {
      file_->finish();
    } catch (const std::system_error& e) {
      error_ = e.code().value();
    }
  file_.reset();
  if (error_)
    throw BackingError(fmt::format("the trace '{}' is not whole: {}", path_.string(), why(error_)));
}

}  // namespace holdall
