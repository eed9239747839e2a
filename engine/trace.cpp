#include "engine/trace.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "engine/error.hpp"

namespace holdall {

TraceWriter::TraceWriter(const std::filesystem::path& path)
    : path_(path), file_(std::fopen(path.c_str(), "wb")) {
  if (!file_)
    throw BackingError(fmt::format("cannot write the trace '{}': {}", path.string(), std::strerror(errno)));
  failed_ = std::fwrite("HOLDTRC1", 8, 1, file_.get()) != 1;
}

void TraceWriter::append(TraceRecord record) {
  if (!began_) began_ = record.time;
  record.time = record.time > began_ ? record.time - began_ : 0;
  failed_ |= std::fwrite(&record, sizeof record, 1, file_.get()) != 1;
}

void TraceWriter::close() {
  if (!file_) return;
  failed_ |= std::fclose(file_.release()) != 0;
  if (failed_)
    throw BackingError(fmt::format("the trace '{}' is not whole: {}", path_.string(), std::strerror(errno)));
}

}  // namespace holdall
