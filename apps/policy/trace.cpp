#include "apps/policy/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "apps/policy/error.hpp"

namespace holdall::lab {

TraceStream::TraceStream(const std::string& path, TraceOptions options)
    : options_(std::move(options)),
      reader_(open_trace(path, options_.read)),
      records_(256),
      keys_(records_.size()) {
  facts_.format = reader_->format();
}

Requests TraceStream::next(std::size_t most) {
  ids_.resize(most);
  kinds_.clear();
  bytes_.clear();
  std::size_t filled = 0;
  while (filled < most) {
    // 1. read and choose
    const std::size_t read =
        reader_->read(std::span(records_).first(std::min(records_.size(), most - filled)));
    if (read == 0) break;
    const std::size_t n = choose(read);
    const std::span chosen = std::span(records_).first(n);

    // 2. count, and number
    const std::uint8_t differing = count(chosen);
    numbering_.number(std::span(keys_).first(n), ids_.data() + filled);

    // 3. fill the columns that are needed
    if (differing != 0 && kinds_.empty()) kinds_.resize(filled, trace_read);
    if (differing != 0 || !kinds_.empty())
      for (const TraceRecord& r : chosen) kinds_.push_back(r.kind);
    if (options_.sizes)
      for (const TraceRecord& r : chosen) bytes_.push_back(r.bytes);
    filled += n;
  }
  facts_.distinct = numbering_.distinct();
  if (options_.progress) options_.progress(*this);
  return {.ids = std::span(ids_).first(filled), .kinds = kinds_, .bytes = bytes_, .next_uses = {}};
}

// Moves the requests that count to the front, their keys beside them; says how many.
std::size_t TraceStream::choose(std::size_t read) {
  TraceRecord* const records = records_.data();
  std::uint64_t* const keys = keys_.data();
  std::size_t n = 0;
  for (std::size_t i = 0; i < read; ++i) {
    const TraceRecord& r = records[i];
    if (r.kind == trace_in_place) {
      ++facts_.kinds[trace_in_place];
      continue;
    }
    if (options_.keep && !options_.keep(r)) continue;
    keys[n] = key_of(r);
    if (n != i) records[n] = r;
    ++n;
  }
  return n;
}

// The bits in which their kinds differ from reads.
std::uint8_t TraceStream::count(std::span<const TraceRecord> records) {
  if (records.empty()) return 0;
  if (facts_.requests == 0) facts_.first_time = last_time_ = records.front().time;
  facts_.requests += records.size();
  std::uint64_t last = last_time_, latest = facts_.last_time, backwards = 0, reads = 0,
                least = facts_.least_bytes, largest = facts_.most_bytes;
  std::uint8_t differing = 0;
  for (const TraceRecord& r : records) {
    backwards += r.time < last;
    last = r.time;
    latest = std::max(latest, last);
    differing |= r.kind;
    if (r.kind == trace_read)
      ++reads;
    else
      ++facts_.kinds[r.kind];
    if (r.kind == trace_remove || r.kind == trace_hint) continue;
    least = std::min(least, r.bytes);
    largest = std::max(largest, r.bytes);
  }
  last_time_ = last;
  facts_.last_time = latest;
  facts_.backwards += backwards;
  facts_.kinds[trace_read] += reads;
  facts_.least_bytes = least;
  facts_.most_bytes = largest;
  return differing;
}

std::uint64_t Trace::footprint() const {
  if (bytes.empty()) return keys.size();
  std::vector<std::uint64_t> last(keys.size());
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (kinds.empty() || (kinds[i] != trace_remove && kinds[i] != trace_hint))
      last[ids[i]] = bytes[i];
  std::uint64_t sum = 0;
  for (const std::uint64_t b : last) sum += b;
  return sum;
}

Trace read_trace(const std::string& path, const TraceOptions& options) {
  TraceStream stream(path, options);
  Trace trace;
  trace.name = trace_name(path);
  // Half of the blocks may be copied as the columns grow; a file of known length is guessed from
  // its first block.
  constexpr std::size_t block = std::size_t{1} << 16;
  for (Requests some = stream.next(block); some.size() > 0; some = stream.next(block)) {
    if (!some.kinds.empty() && trace.kinds.empty())
      trace.kinds.resize(trace.ids.size(), trace_read);
    if (trace.ids.empty() && stream.reader().input().file_offset() > 0) {
      const double share = static_cast<double>(stream.reader().input().file_bytes()) /
                           static_cast<double>(stream.reader().input().file_offset());
      trace.ids.reserve(std::min<std::size_t>(
          static_cast<std::size_t>(share * 1.02 * static_cast<double>(some.size())),
          std::size_t{1} << 32));
    }
    trace.ids.insert(trace.ids.end(), some.ids.begin(), some.ids.end());
    if (!some.kinds.empty())
      trace.kinds.insert(trace.kinds.end(), some.kinds.begin(), some.kinds.end());
    else if (!trace.kinds.empty())
      trace.kinds.resize(trace.ids.size(), trace_read);
    trace.bytes.insert(trace.bytes.end(), some.bytes.begin(), some.bytes.end());
  }
  trace.facts = stream.facts();
  if (trace.ids.empty())
    throw LabError(fmt::format("{}: there is no request in it{}", stream.reader().input().name(),
                               options.keep ? " that is kept" : ""));
  trace.keys = stream.numbering().keys();
  return trace;
}

void find_next_uses(Trace& trace) {
  const std::size_t n = trace.ids.size();
  if (n >= never_used)
    throw LabError("more than 4,294,967,294 requests: opt cannot see that far; sample the trace");
  trace.next_uses.assign(n, never_used);
  std::vector<RequestNumber> next(trace.distinct(), never_used);
  for (std::size_t i = n; i-- > 0;) {
    RequestNumber& after = next.data()[trace.ids.data()[i]];
    trace.next_uses.data()[i] = after;
    const std::uint8_t kind = trace.kinds.empty() ? std::uint8_t{trace_read} : trace.kinds[i];
    if (kind == trace_remove)
      after = never_used;  // what comes back after it is another content
    else if (kind <= trace_overwrite)
      after = static_cast<RequestNumber>(i);
  }
}

std::string trace_name(const std::string& path) {
  if (path == "-") return "-";
  std::string name = std::filesystem::path(path).filename().string();
  for (bool cut = true; cut;) {
    cut = false;
    for (const std::string_view ending :
         {".zst", ".gz", ".xz", ".bin", ".csv", ".txt", ".oracleGeneral", ".vscsi", ".tr", ".trace",
          ".hold", ".holdtrace", ".lcs"})
      if (name.size() > ending.size() && name.ends_with(ending)) {
        name.resize(name.size() - ending.size());
        cut = true;
      }
  }
  return name;
}

}  // namespace holdall::lab
