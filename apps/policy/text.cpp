// Formats of a request a line, told apart by the lines' shape.
//   txt           ID                                      a number, or a word in every line
//   lirs          ID, and lines of '*', which are no requests
//   webcachesim   TIME ID SIZE ...
//   arc           FIRST COUNT IGNORED NUMBER              COUNT blocks from FIRST on
//   address       l|s 0xADDRESS ...                       loads and stores, as Caffeine's simulator
//   has them twitter       TIME,KEY,KEY SIZE,VALUE SIZE,CLIENT,OPERATION,TTL
#include <fmt/format.h>

#include <algorithm>

#include "apps/policy/error.hpp"
#include "apps/policy/formats.hpp"
#include "apps/policy/words.hpp"

namespace holdall::lab {

namespace {

class Lines : public Reader {
 public:
  Lines(std::unique_ptr<Input> input, const std::string& format, char delimiter, std::size_t least)
      : Reader(std::move(input), format), delimiter_(delimiter), least_(least) {}

  std::size_t read(std::span<TraceRecord> records) override {
    std::size_t read = 0;
    while (read < records.size()) {
      if (repeats_ > 0) {
        records[read++] = repeated_;
        repeated_.chunk += stride_;
        --repeats_;
        continue;
      }
      at_ = in_->offset();
      if (!in_->line(line_)) break;
      ++number_;
      if (line_.find_first_not_of(" \t") == line_.npos || line_.front() == '#') continue;
      split(line_, delimiter_, words_);
      if (words_.size() < least_)
        bad(fmt::format("{} columns where {} has at least {}: '{}'", words_.size(), format(),
                        least_, shown(line_)));
      TraceRecord record{.bytes = 1};
      if (parse(record)) records[read++] = record;
    }
    return read;
  }

 protected:
  // Of words_ a record; false if the line is none.
  virtual bool parse(TraceRecord& record) = 0;

  std::uint64_t number(std::size_t column) const {
    const auto n = whole_number(trimmed(words_[column]));
    if (!n)
      bad(fmt::format("'{}' is no whole number (column {})", shown(words_[column]), column + 1));
    return *n;
  }
  std::uint64_t size(std::size_t column) const {
    const std::uint64_t n = number(column);
    if (n == 0) bad("a size of zero or less");
    return n;
  }
  // After `record`, `more` of the same, each `stride` chunks further.
  void repeat(const TraceRecord& record, std::uint64_t more, std::uint64_t stride) {
    constexpr std::uint64_t most = 1 << 20;
    if (more > most) bad(fmt::format("a line of {} requests; the most is {}", more, most));
    repeated_ = record;
    repeated_.chunk += stride;
    repeats_ = more;
    stride_ = stride;
  }
  static std::string_view shown(std::string_view word) { return word.substr(0, 60); }
  [[noreturn]] void bad(const std::string& what) const {
    throw LabError(fmt::format("{}: line {} at byte {}: {}", in_->name(), number_, at_, what));
  }

  std::string_view line_;
  std::vector<std::string_view> words_;

 private:
  const char delimiter_;
  const std::size_t least_;  // columns
  std::uint64_t number_ = 0, at_ = 0;
  TraceRecord repeated_;
  std::uint64_t repeats_ = 0, stride_ = 0;
};

class Ids final : public Lines {
 public:
  Ids(std::unique_ptr<Input> input, const std::string& format)
      : Lines(std::move(input), format, ' ', 1) {}

 private:
  bool parse(TraceRecord& record) override {
    if (line_ == "*") return false;
    if (first_) numbers_ = whole_number(words_[0]).has_value();
    first_ = false;
    record.chunk = numbers_ ? number(0) : hash_of(line_);
    return true;
  }
  bool first_ = true, numbers_ = true;
};

class Webcachesim final : public Lines {
 public:
  explicit Webcachesim(std::unique_ptr<Input> input)
      : Lines(std::move(input), "webcachesim", ' ', 3) {}

 private:
  bool parse(TraceRecord& record) override {
    record.time = nanoseconds(static_cast<double>(number(0)));
    record.chunk = number(1);
    record.bytes = size(2);
    return true;
  }
};

class Arc final : public Lines {
 public:
  explicit Arc(std::unique_ptr<Input> input) : Lines(std::move(input), "arc", ' ', 4) {}

 private:
  bool parse(TraceRecord& record) override {
    record.chunk = number(0);
    repeat(record, size(1) - 1, 1);
    return true;
  }
};

class Address final : public Lines {
 public:
  Address(std::unique_ptr<Input> input, std::uint64_t block)
      : Lines(std::move(input), "address", ' ', 2), block_(block) {}

 private:
  bool parse(TraceRecord& record) override {
    const auto kind = kind_of(words_[0]);
    if (!kind) bad(fmt::format("'{}' is neither l (load) nor s (store)", shown(words_[0])));
    record.kind = *kind == trace_read ? trace_read : trace_write;
    record.chunk = number(1) / block_;
    record.bytes = block_;
    return true;
  }
  const std::uint64_t block_;
};

class Twitter final : public Lines {
 public:
  explicit Twitter(std::unique_ptr<Input> input) : Lines(std::move(input), "twitter", ',', 7) {}

 private:
  bool parse(TraceRecord& record) override {
    // A key may have commas of its own: the last five columns are counted from the end.
    const std::size_t n = words_.size();
    record.time = nanoseconds(static_cast<double>(number(0)));
    const char* const key = words_[1].data();
    record.chunk = hash_of({key, static_cast<std::size_t>(words_[n - 5].data() - 1 - key)});
    const auto kind = kind_of(trimmed(words_[n - 2]));
    if (!kind) bad(fmt::format("'{}' is no operation", shown(words_[n - 2])));
    record.kind = *kind;
    record.bytes = number(n - 5) + number(n - 4);
    if (record.bytes == 0 && record.kind != trace_remove) bad("a size of zero or less");
    return true;
  }
};

// Whole lines of `begin`, at most 64 of them.
std::vector<std::string_view> some_lines(std::string_view begin, bool more) {
  std::vector<std::string_view> lines;
  while (!begin.empty() && lines.size() < 64) {
    const std::size_t end = begin.find('\n');
    if (end == begin.npos && more && !lines.empty()) break;
    std::string_view line = begin.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") != line.npos && line.front() != '#') lines.push_back(line);
    if (end == begin.npos) break;
    begin.remove_prefix(end + 1);
  }
  return lines;
}

}  // namespace

std::optional<std::string> detect_text(std::string_view begin, bool more) {
  const auto text = [](unsigned char c) { return c >= ' ' || c == '\t' || c == '\n' || c == '\r'; };
  if (!std::ranges::all_of(begin.substr(0, 4096), text)) return std::nullopt;
  const auto lines = some_lines(begin, more);
  if (lines.empty()) return std::nullopt;

  // 1. commas
  std::vector<std::string_view> words;
  if (names_columns(lines[0])) return "csv";
  split(lines[0], ',', words);
  if (words.size() >= 7 && whole_number(words[0]) && kind_of(trimmed(words[words.size() - 2])))
    return "twitter";

  // 2. blanks
  bool stars = false, counts = true;
  std::size_t columns = 0;
  std::uint64_t last = 0;
  for (const std::string_view line : lines) {
    if (line == "*") {
      stars = true;
      continue;
    }
    split(line, ' ', words);
    const bool first = columns == 0;
    if (first) columns = words.size();
    if (first && columns >= 2 && words[1].starts_with("0x") && kind_of(words[0])) return "address";
    const std::uint64_t number = words.size() == 4 ? whole_number(words[3]).value_or(0) : 0;
    counts = counts && words.size() == 4 && (first || number == last + 1);
    last = number;
  }
  if (columns <= 1) return stars ? "lirs" : "txt";
  if (counts && lines.size() > 1) return "arc";
  split(lines[0], ' ', words);
  const auto is_number = [](auto word) { return whole_number(word).has_value(); };
  if (words.size() >= 3 && std::ranges::all_of(words.begin(), words.begin() + 3, is_number))
    return "webcachesim";
  return std::nullopt;
}

std::unique_ptr<Reader> text_reader(std::unique_ptr<Input>& input, const std::string& format,
                                    const ReadOptions& options) {
  if (format == "txt" || format == "lirs") return std::make_unique<Ids>(std::move(input), format);
  if (format == "webcachesim") return std::make_unique<Webcachesim>(std::move(input));
  if (format == "arc") return std::make_unique<Arc>(std::move(input));
  if (format == "address") return std::make_unique<Address>(std::move(input), options.block);
  if (format == "twitter") return std::make_unique<Twitter>(std::move(input));
  return nullptr;
}

}  // namespace holdall::lab
