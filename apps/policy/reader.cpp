#include "apps/policy/reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "apps/policy/error.hpp"
#include "apps/policy/formats.hpp"

namespace holdall::lab {

void Reader::fail(std::uint64_t record, std::uint64_t offset, const std::string& what) const {
  throw LabError(fmt::format("{}: record {} at byte {}: {}", in_->name(), record, offset, what));
}

namespace {

std::string all_formats() {
  std::string all;
  for (const std::string& format : formats()) {
    if (!all.empty()) all += ", ";
    all += format;
  }
  return all;
}

}  // namespace

const std::vector<std::string>& formats() {
  static const std::vector<std::string> all{"holdall",
                                            "oracleGeneral",
                                            "oracleGeneralOpNS",
                                            "oracleSimTwrNS",
                                            "oracleSysTwrNS",
                                            "lcs1",
                                            "lcs2",
                                            "lcs3",
                                            "lcs4",
                                            "lcs5",
                                            "lcs6",
                                            "lcs7",
                                            "lcs8",
                                            "vscsi1",
                                            "vscsi2",
                                            "csv",
                                            "txt",
                                            "lirs",
                                            "arc",
                                            "twitter",
                                            "webcachesim",
                                            "address"};
  return all;
}

std::unique_ptr<Reader> open_trace(const std::string& path, const ReadOptions& options) {
  auto input = std::make_unique<Input>(path);
  constexpr std::size_t begin = 16 << 10;
  const std::string_view bytes = input->peek(begin);
  if (bytes.empty()) throw LabError(fmt::format("{}: the trace is empty: 0 bytes", input->name()));

  std::string format = options.format;
  if (format.empty() && !options.columns.empty()) format = "csv";
  if (!format.empty() && !std::ranges::count(formats(), format))
    throw LabError(fmt::format("no trace format '{}'; there are {}", format, all_formats()));
  if (format.empty()) {
    std::optional<std::string> found;
    try {
      if (bytes.starts_with("HOLDTRC") && !bytes.starts_with(trace_magic) &&
          !bytes.starts_with(recording_magic))
        throw LabError(
            fmt::format("a trace of Holdall's version '{}', which this program does not know; "
                        "there are 1 and 2",
                        bytes.substr(7, 1)));
      found = detect_text(bytes, bytes.size() >= begin);
      if (!found) found = detect_binary(bytes);
    } catch (const LabError& error) {
      throw LabError(fmt::format("{}: record 0 at byte 0: {}", input->name(), error.what()));
    }
    if (!found)
      throw LabError(fmt::format(
          "{}: record 0 at byte 0: no known trace format: neither a magic number nor the shape "
          "of one; name it with --format, one of {}",
          input->name(), all_formats()));
    format = *found;
  }
  if (format == "csv") return csv_reader(input, options);
  if (auto reader = text_reader(input, format, options)) return reader;
  return binary_reader(input, format);
}

}  // namespace holdall::lab
