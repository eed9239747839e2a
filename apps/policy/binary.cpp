// Records of one length: our own format, libCacheSim's, and vscsi.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>

#include "apps/policy/error.hpp"
#include "apps/policy/formats.hpp"
#include "apps/policy/recording.hpp"

namespace holdall::lab {

namespace {

constexpr std::uint64_t lcs_magic = 0x123456789abcdef0;
constexpr std::size_t lcs_header = 8192, lcs_version_at = 8;

template <class T>
T at(const char* record, std::size_t offset) {
  T value;
  std::memcpy(&value, record + offset, sizeof value);
  return value;
}

std::uint64_t seconds(std::uint32_t s) { return std::uint64_t{s} * 1'000'000'000; }

// "Never" is written as -1 or as the largest signed number.
std::uint64_t next_use(const char* record, std::size_t offset) {
  const auto next = at<std::int64_t>(record, offset);
  return next < 0 || next == INT64_MAX ? ~std::uint64_t{0} : static_cast<std::uint64_t>(next);
}

// libCacheSim's numbers of operations.
std::uint8_t operation(std::uint32_t op) {
  switch (op) {
    case 3:
    case 4:
    case 6:
    case 13:
      return trace_overwrite;
    case 5:
    case 7:
    case 8:
    case 10:
    case 11:
    case 14:
      return trace_write;
    case 9:
      return trace_remove;
    default:
      return trace_read;
  }
}

// {u32 time, u64 id, u32 size, ..., i64 next}: what the oracle formats have in common.
template <std::size_t next_at>
TraceRecord oracle(const char* r) {
  return {.time = seconds(at<std::uint32_t>(r, 0)),
          .chunk = at<std::uint64_t>(r, 4),
          .bytes = at<std::uint32_t>(r, 12),
          .next_use = next_use(r, next_at)};
}
TraceRecord oracle_op(const char* r) {
  TraceRecord record = oracle<19>(r);
  record.kind = operation(at<std::uint8_t>(r, 16));
  return record;
}
// Twitter's: {u32 time, u64 id, u16 key size, u32 value size, u16 op, u16 namespace, i32 ttl, i64
// next}.
TraceRecord oracle_twitter(const char* r) {
  TraceRecord record = oracle<26>(r);
  record.bytes = std::uint64_t{at<std::uint16_t>(r, 12)} + at<std::uint32_t>(r, 14);
  record.kind = operation(at<std::uint16_t>(r, 18));
  return record;
}
TraceRecord lcs2(const char* r) {
  TraceRecord record = oracle<20>(r);
  record.kind = operation(at<std::uint8_t>(r, 16));
  return record;
}
TraceRecord lcs3(const char* r) {
  TraceRecord record = oracle<28>(r);
  const auto size = at<std::int64_t>(r, 12);
  record.bytes = size < 0 ? 0 : static_cast<std::uint64_t>(size);
  record.kind = operation(at<std::uint8_t>(r, 20));
  return record;
}
TraceRecord vscsi(std::uint64_t time, std::uint64_t block, std::uint32_t bytes,
                  std::uint16_t command) {
  const bool reads = command == 0x08 || command == 0x28 || command == 0x88 || command == 0xa8;
  return {.time = time * 1000,
          .chunk = block,
          .bytes = bytes,
          .kind = static_cast<std::uint8_t>(reads ? trace_read : trace_overwrite)};
}
TraceRecord vscsi1(const char* r) {
  return vscsi(at<std::uint64_t>(r, 24), at<std::uint64_t>(r, 16), at<std::uint32_t>(r, 4),
               at<std::uint16_t>(r, 12));
}
TraceRecord vscsi2(const char* r) {
  return vscsi(at<std::uint64_t>(r, 24), at<std::uint64_t>(r, 16), at<std::uint32_t>(r, 8),
               at<std::uint16_t>(r, 0));
}
TraceRecord own(const char* r) { return at<TraceRecord>(r, 0); }

struct Layout {
  const char* format;
  std::size_t header, size;  // bytes
  TraceRecord (*parse)(const char*);
};
constexpr std::array layouts{
    Layout{"holdall", 8, sizeof(TraceRecord), own},
    Layout{"lcs1", lcs_header, 24, oracle<16>},
    Layout{"lcs2", lcs_header, 28, lcs2},
    Layout{"lcs3", lcs_header, 36, lcs3},
    Layout{"lcs4", lcs_header, 40, lcs3},
    Layout{"lcs5", lcs_header, 44, lcs3},
    Layout{"lcs6", lcs_header, 52, lcs3},
    Layout{"lcs7", lcs_header, 68, lcs3},
    Layout{"lcs8", lcs_header, 100, lcs3},
    Layout{"vscsi1", 0, 32, vscsi1},
    Layout{"vscsi2", 0, 40, vscsi2},
    Layout{"oracleGeneral", 0, 24, oracle<16>},
    Layout{"oracleGeneralOpNS", 0, 27, oracle_op},
    Layout{"oracleSimTwrNS", 0, 30, oracle<22>},
    Layout{"oracleSysTwrNS", 0, 34, oracle_twitter},
};

// `parse` is a parameter of the type, so that the loop calls it inline.
template <TraceRecord (*parse)(const char*)>
class Binary final : public Reader {
 public:
  Binary(std::unique_ptr<Input> input, const Layout& layout)
      : Reader(std::move(input), layout.format), size_(layout.size) {
    if (in_->peek(layout.header).size() < layout.header)
      fail(0, 0,
           fmt::format("the header is cut short: {} of {} bytes", in_->peek(1).size(),
                       layout.header));
    recording_ = parse == own && read_header(*in_);
    if (recording_) return;
    in_->skip(layout.header);
  }

  std::size_t read(std::span<TraceRecord> records) override {
    std::size_t read = 0;
    while (read < records.size()) {
      const std::string_view bytes = in_->peek(size_);
      const std::size_t n = std::min(bytes.size() / size_, records.size() - read);
      if (n == 0) {
        if (!bytes.empty())
          fail(record_, in_->offset(),
               fmt::format("the trace is cut short: {} of {} bytes", bytes.size(), size_));
        break;
      }
      for (std::size_t i = 0; i < n; ++i) {
        TraceRecord record = parse(bytes.data() + i * size_);
        if constexpr (parse == own) {
          check(record, i);
          if (record.kind > trace_remove) continue;  // an event of a recording
          if (recording_) record.next_use = ~std::uint64_t{0};  // numbered otherwise
        }
        if (record.bytes == 0 && record.kind != trace_remove && record.kind != trace_hint)
          fail(record_ + i, in_->offset() + i * size_, "a size of zero or less");
        records[read++] = record;
      }
      in_->skip(n * size_);
      record_ += n;
    }
    return read;
  }

 private:
  // A chunk of a range becomes one number, range * 2^40 + chunk, so both have bounds where there
  // are several ranges.
  void check(const TraceRecord& record, std::size_t i) {
    const std::uint64_t at = in_->offset() + i * size_;
    if (record.kind > trace_told)
      fail(record_ + i, at,
           fmt::format("kind {} is unknown: the last is {}", record.kind, int{trace_told}));
    several_ = several_ || record.range != 0;
    wide_ = wide_ || record.chunk >> 40 != 0;
    if ((several_ && wide_) || record.range >> 24 != 0)
      fail(record_ + i, at,
           fmt::format("range {}, chunk {}: with several ranges, ranges are below 2^24 and chunks "
                       "below 2^40",
                       record.range, record.chunk));
  }

  const std::size_t size_;
  std::uint64_t record_ = 0;
  bool recording_ = false;
  bool several_ = false, wide_ = false;
};

template <std::size_t... i>
std::unique_ptr<Reader> make(std::unique_ptr<Input>& input, const std::string& format,
                             std::index_sequence<i...>) {
  std::unique_ptr<Reader> reader;
  (void)((layouts[i].format == format &&
          (reader = std::make_unique<Binary<layouts[i].parse>>(std::move(input), layouts[i]),
           true)) ||
         ...);
  return reader;
}

// Whether all the records shown could be of an oracle format: time runs forward, sizes are, next
// uses lie ahead.
bool plausible(std::string_view bytes, const Layout& layout) {
  const std::size_t n = std::min<std::size_t>(bytes.size() / layout.size, 256);
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const TraceRecord r = layout.parse(bytes.data() + i * layout.size);
    if (r.time < last || r.bytes >> 31 != 0) return false;
    if (r.next_use != ~std::uint64_t{0} && (r.next_use <= i || r.next_use >> 40 != 0)) return false;
    last = r.time;
  }
  return n > 0;
}

}  // namespace

std::optional<std::string> detect_binary(std::string_view begin) {
  if (begin.starts_with(trace_magic) || begin.starts_with(recording_magic)) return "holdall";
  if (begin.size() >= 16 && at<std::uint64_t>(begin.data(), 0) == lcs_magic) {
    const auto version = at<std::uint64_t>(begin.data(), lcs_version_at);
    if (version < 1 || version > 8)
      throw LabError(fmt::format("lcs version {}; there are 1 to 8", version));
    return fmt::format("lcs{}", version);
  }
  const auto version = [&](std::size_t offset) {
    return begin.size() < offset + 2 ? 0 : at<std::uint16_t>(begin.data(), offset) >> 8;
  };
  if (version(2) == 2 && version(2 + 40) == 2) return "vscsi2";
  if (version(14) == 1 && (version(14 + 32) == 1 || begin.size() == 32)) return "vscsi1";
  for (const Layout& layout : layouts)
    if (std::string_view(layout.format).starts_with("oracle") && plausible(begin, layout))
      return layout.format;
  return std::nullopt;
}

std::unique_ptr<Reader> binary_reader(std::unique_ptr<Input>& input, const std::string& format) {
  return make(input, format, std::make_index_sequence<layouts.size()>());
}

}  // namespace holdall::lab
