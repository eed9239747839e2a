// Columns with names, cut at commas, semicolons or tabs. CacheLib's traces, of blocks and of keys,
// are such files.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "apps/policy/error.hpp"
#include "apps/policy/formats.hpp"
#include "apps/policy/words.hpp"

namespace holdall::lab {

namespace {

enum Meaning { time, key, size, operation, next_use, times, meanings };
constexpr std::array<const char*, meanings> meaning_names{"time", "key",  "size",
                                                          "op",   "next", "times"};
// The names that each goes by, the first found wins.
constexpr std::array<std::array<std::string_view, 14>, meanings> known{{
    {"time", "timestamp", "ts", "op_time", "real_time", "clock_time"},
    {"key", "id", "obj_id", "object_id", "object", "chunk", "block_id", "block", "lbn", "lba",
     "addr", "address", "url", "cacheKey"},
    {"size", "bytes", "obj_size", "object_size", "io_size", "len", "length"},
    {"op", "operation", "kind", "op_name", "cmd", "type"},
    {"next", "next_use", "next_access_vtime"},
    {"op_count"},
}};
constexpr std::string_view key_names =
    "key, id, obj_id, object_id, chunk, block_id, lbn, lba, addr and the like";

bool same(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

char delimiter_of(std::string_view line) {
  for (const char c : {',', '\t', ';', '|'})
    if (line.find(c) != line.npos) return c;
  return ',';
}

class Csv final : public Reader {
 public:
  Csv(std::unique_ptr<Input> input, const ReadOptions& options) : Reader(std::move(input), "csv") {
    columns_.fill(none);
    const std::string_view start = in_->peek(4096);
    const std::string_view first = start.substr(0, start.find('\n'));
    delimiter_ = delimiter_of(first);
    std::vector<std::string_view> names;
    std::string_view header;
    if (names_columns(first) || !only_numbers(options.columns)) {
      (void)in_->line(header);
      number_ = 1;
      split(header, delimiter_, names);
      for (std::string_view& name : names) name = trimmed(name);
    }
    find_known(names);
    choose(options.columns, names);
    if (columns_[key] == none)
      throw LabError(fmt::format(
          "{}: line 1 at byte 0: no column for the key among '{}': it is called {}, or say "
          "--columns key=NAME",
          in_->name(), first.substr(0, 200), key_names));
    for (const std::size_t column : columns_)
      if (column != none) least_ = std::max(least_, column + 1);
  }

  std::size_t read(std::span<TraceRecord> records) override {
    std::size_t read = 0;
    std::string_view line;
    while (read < records.size()) {
      if (repeats_ > 0) {
        records[read++] = repeated_;
        --repeats_;
        continue;
      }
      at_ = in_->offset();
      if (!in_->line(line)) break;
      ++number_;
      if (line.find_first_not_of(" \t") == line.npos) continue;
      split(line, delimiter_, words_);
      if (words_.size() < least_)
        bad(fmt::format("{} columns, where {} are named", words_.size(), least_));
      records[read++] = parse();
    }
    return read;
  }

 private:
  static constexpr std::size_t none = ~std::size_t{0};

  static bool only_numbers(std::string_view columns) {
    return columns.empty() || columns.find_first_not_of("0123456789,=timekysozpnx") == columns.npos;
  }

  void find_known(const std::vector<std::string_view>& names) {
    for (std::size_t m = 0; m < meanings; ++m)
      for (const std::string_view word : known[m])
        for (std::size_t i = 0; i < names.size() && columns_[m] == none; ++i)
          if (!word.empty() && same(names[i], word)) columns_[m] = i;
  }

  // "time=1,key=lbn"
  void choose(std::string_view columns, const std::vector<std::string_view>& names) {
    if (columns.empty()) return;
    std::vector<std::string_view> choices;
    split(columns, ',', choices);
    for (const std::string_view choice : choices) {
      const std::size_t equals = choice.find('=');
      const std::string_view what = choice.substr(0, equals);
      const auto meaning = std::ranges::find(meaning_names, what);
      if (equals == choice.npos || meaning == meaning_names.end())
        throw LabError(fmt::format(
            "--columns '{}': write MEANING=COLUMN, where MEANING is time, key, size, op, next "
            "or times, and COLUMN its name, or its number from 1 on",
            choice));
      const std::string_view name = choice.substr(equals + 1);
      std::size_t& column = columns_[static_cast<std::size_t>(meaning - meaning_names.begin())];
      const auto found = std::ranges::find_if(names, [&](auto n) { return same(n, name); });
      if (found != names.end()) {
        column = static_cast<std::size_t>(found - names.begin());
      } else if (const auto n = whole_number(name); n && *n > 0 && *n <= 4096) {
        column = *n - 1;
      } else {
        std::string all;
        for (const std::string_view n : names) {
          if (!all.empty()) all += ", ";
          all += n;
        }
        throw LabError(fmt::format("{}: line 1 at byte 0: no column '{}'; there are {}",
                                   in_->name(), name, all));
      }
    }
  }

  std::string_view word(Meaning m) const { return trimmed(words_[columns_[m]]); }
  std::uint64_t number(Meaning m) const {
    const auto n = whole_number(word(m));
    if (!n)
      bad(fmt::format("'{}' is no whole number (column {})", word(m).substr(0, 60),
                      meaning_names[m]));
    return *n;
  }

  TraceRecord parse() {
    TraceRecord record{.bytes = 1};
    const auto id = whole_number(word(key));
    record.chunk = id ? *id : hash_of(word(key));
    if (columns_[time] != none) {
      double seconds = 0;
      const std::string_view text = word(time);
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
      if (error != std::errc() || end != text.data() + text.size())
        bad(fmt::format("'{}' is no number (column time)", text.substr(0, 60)));
      record.time = nanoseconds(seconds);
    }
    if (columns_[operation] != none) {
      const auto kind = kind_of(word(operation));
      if (!kind)
        bad(fmt::format("'{}' is no operation: read, write, delete and the like",
                        word(operation).substr(0, 60)));
      record.kind = *kind;
    }
    if (columns_[size] != none) {
      if (word(size).starts_with('-')) bad("a size of zero or less");
      record.bytes = number(size);
      if (record.bytes == 0 && record.kind != trace_remove) bad("a size of zero or less");
    }
    if (columns_[next_use] != none && !word(next_use).starts_with('-'))
      record.next_use = number(next_use);
    if (columns_[times] != none) {
      const std::uint64_t n = number(times);
      constexpr std::uint64_t most = 1 << 20;
      if (n > most) bad(fmt::format("a line of {} requests; the most is {}", n, most));
      repeated_ = record;
      repeats_ = n > 0 ? n - 1 : 0;
    }
    return record;
  }

  [[noreturn]] void bad(const std::string& what) const {
    throw LabError(fmt::format("{}: line {} at byte {}: {}", in_->name(), number_, at_, what));
  }

  char delimiter_ = ',';
  std::array<std::size_t, meanings> columns_;  // none: not there
  std::size_t least_ = 0;                      // columns in a line
  std::vector<std::string_view> words_;
  std::uint64_t number_ = 0, at_ = 0;
  TraceRecord repeated_;
  std::uint64_t repeats_ = 0;
};

}  // namespace

bool names_columns(std::string_view line) {
  const char delimiter = delimiter_of(line);
  if (line.find(delimiter) == line.npos) return false;
  std::vector<std::string_view> words;
  split(line, delimiter, words);
  bool named = false;
  for (const std::string_view word : words) {
    const std::string_view name = trimmed(word);
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front()))) return false;
    for (const std::string_view k : known[key]) named = named || (!k.empty() && same(name, k));
    for (const std::string_view k : known[time]) named = named || (!k.empty() && same(name, k));
    for (const std::string_view k : known[size]) named = named || (!k.empty() && same(name, k));
  }
  return named;
}

std::unique_ptr<Reader> csv_reader(std::unique_ptr<Input>& input, const ReadOptions& options) {
  return std::make_unique<Csv>(std::move(input), options);
}

}  // namespace holdall::lab
