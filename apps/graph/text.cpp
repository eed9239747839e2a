#include "apps/graph/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace holdall::graph {

namespace {

enum class Kind : std::uint8_t { other, digit, blank, line_end, comment, numeric };

constexpr std::array<Kind, 256> kinds = [] {
  std::array<Kind, 256> table{};
  const auto set = [&](std::string_view characters, Kind kind) {
    for (const char c : characters) table[static_cast<unsigned char>(c)] = kind;
  };
  set("+-.eEdDinfaINFA", Kind::numeric);  // 1e-3, 1D5, inf, NaN
  set("0123456789", Kind::digit);
  set(" \t,;\v\f", Kind::blank);
  set("\n\r", Kind::line_end);
  set("#%", Kind::comment);
  return table;
}();

Kind kind_of(char c) { return kinds[static_cast<unsigned char>(c)]; }
bool ends_word(Kind kind) {
  return kind == Kind::blank || kind == Kind::line_end || kind == Kind::comment;
}

class LineParser {
 public:
  LineParser(std::string_view lines, const TextRules& rules)
      : begin_(lines.data()), end_(begin_ + lines.size()), at_(begin_), rules_(rules) {}

  void parse(std::vector<Edge>& edges) {
    edges.resize(static_cast<std::size_t>(end_ - begin_) / 4 + 1);  // "1 2\n" is the shortest
    Edge* next = edges.data();
    while (at_ < end_) {
      const Kind kind = kind_of(*at_);
      if (kind == Kind::blank || kind == Kind::line_end) {
        ++at_;
      } else if (kind == Kind::comment) {
        skip_line();
      } else {
        const Vertex from = id();
        while (kind_of(*at_) == Kind::blank) ++at_;
        if (kind_of(*at_) == Kind::line_end || kind_of(*at_) == Kind::comment)
          fault(at_, "the line has one column; two ids were expected, such as '0 1'");
        const Vertex to = id();
        skip_columns();
        *next++ = {from, to};
      }
    }
    edges.resize(static_cast<std::size_t>(next - edges.data()));
  }

 private:
  // The text ends with a line end, so no loop over a word or line runs past it.
  Vertex id() {
    const char* const word = at_;
    std::uint64_t value = 0;
    for (unsigned digit = 0; (digit = static_cast<unsigned>(*at_ - '0')) < 10; ++at_) {
      value = value * 10 + digit;
      if (value > most_vertices) break;
    }
    if (at_ == word || !ends_word(kind_of(*at_))) bad_id(word);
    value -= rules_.base;  // 0 in a text that counts from 1 becomes huge
    if (value >= rules_.vertices) bad_id(word);
    return static_cast<Vertex>(value);
  }

  [[noreturn]] void bad_id(const char* word) const {
    const char* last = word;
    while (!ends_word(kind_of(*last))) ++last;
    const auto length = static_cast<std::size_t>(last - word);
    std::string shown(word, std::min<std::size_t>(length, 24));
    if (length > shown.size()) shown += "...";
    std::ranges::replace_if(
        shown, [](char c) { return c < ' ' || c > '~'; }, '?');
    const bool number =
        length > 0 && std::all_of(word, last, [](char c) { return c >= '0' && c <= '9'; });
    const std::string range =
        fmt::format("{} to {}", rules_.base, rules_.base + rules_.vertices - 1);
    if (number) fault(word, fmt::format("the id {} is out of range; expected {}", shown, range));
    if (length > 1 && *word == '-' && kind_of(word[1]) == Kind::digit)
      fault(word, fmt::format("the id {} is negative; expected {}", shown, range));
    fault(word, fmt::format("'{}' is no vertex id; expected two whole numbers, such as '{} {}'",
                            shown, rules_.base, rules_.base + 1));
  }

  void skip_columns() {
    for (Kind kind = kind_of(*at_); kind != Kind::line_end; kind = kind_of(*++at_)) {
      if (kind == Kind::comment) return skip_line();
      if (kind == Kind::other) {
        fault(at_, fmt::format("'{}' in a further column; only numbers were expected there",
                               *at_ > ' ' && *at_ <= '~' ? *at_ : '?'));
      }
    }
  }

  void skip_line() {
    while (kind_of(*at_) != Kind::line_end) ++at_;
  }

  [[noreturn]] void fault(const char* where, std::string problem) const {
    throw TextFault{static_cast<std::size_t>(where - begin_), std::move(problem)};
  }

  const char* begin_;
  const char* end_;
  const char* at_;
  const TextRules rules_;
};

}  // namespace

void parse_edges(std::string_view lines, const TextRules& rules, std::vector<Edge>& edges) {
  LineParser(lines, rules).parse(edges);
}

std::uint64_t count_lines(std::string_view text) {
  std::uint64_t lines = 0;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n' || (text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n')))
      ++lines;
  return lines;
}

}  // namespace holdall::graph
