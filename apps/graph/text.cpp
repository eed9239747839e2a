#include "apps/graph/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

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

}  // namespace

Vertex NumberParser::id(const TextRules& rules) {
  const char* const word = at;
  std::uint64_t value = 0;
  for (unsigned digit = 0; (digit = static_cast<unsigned>(*at - '0')) < 10; ++at) {
    value = value * 10 + digit;
    if (value > most_vertices) break;
  }
  if (at == word || !ends_word(kind_of(*at))) bad_id(word, rules);
  value -= rules.base;  // 0 in a text that counts from 1 becomes huge
  if (value >= rules.vertices) bad_id(word, rules);
  return static_cast<Vertex>(value);
}

std::string NumberParser::shown(const char* word) const {
  const char* last = word;
  while (!ends_word(kind_of(*last))) ++last;
  const auto length = static_cast<std::size_t>(last - word);
  std::string text(word, std::min<std::size_t>(length, 24));
  if (length > text.size()) text += "...";
  std::ranges::replace_if(
      text, [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

void NumberParser::bad_id(const char* word, const TextRules& rules) const {
  const char* last = word;
  while (!ends_word(kind_of(*last))) ++last;
  const bool number =
      last > word && std::all_of(word, last, [](char c) { return c >= '0' && c <= '9'; });
  const std::string range = fmt::format("{} to {}", rules.base, rules.base + rules.vertices - 1);
  if (number)
    fault(word, fmt::format("the id {} is out of range; expected {}", shown(word), range));
  if (last - word > 1 && *word == '-' && kind_of(word[1]) == Kind::digit)
    fault(word, fmt::format("the id {} is negative; expected {}", shown(word), range));
  fault(word, fmt::format("'{}' is no vertex id; expected two whole numbers, such as '{} {}'",
                          shown(word), rules.base, rules.base + 1));
}

std::uint32_t NumberParser::weight(Weights& kind) {
  const char* const word = at;
  std::uint64_t value = 0;
  for (unsigned digit = 0; (digit = static_cast<unsigned>(*at - '0')) < 10; ++at) {
    value = value * 10 + digit;
    if (value >= weights_below(Weights::int32)) return real(word, kind);
  }
  if (at == word || !ends_word(kind_of(*at))) return real(word, kind);
  kind = Weights::int32;
  return static_cast<std::uint32_t>(value);
}

std::uint32_t NumberParser::real(const char* word, Weights& kind) {
  kind = Weights::float32;
  while (!ends_word(kind_of(*at))) ++at;
  double value = 0;
  const char* const first = *word == '+' && at - word > 1 && word[1] != '-' ? word + 1 : word;
  const auto [rest, error] = std::from_chars(first, at, value);
  if (error == std::errc::invalid_argument || rest != at)
    fault(word, fmt::format("'{}' is no weight; expected a number from 0 on", shown(word)));
  if (value < 0)
    fault(word, fmt::format("the weight {} is negative; expected a number from 0 on (or pass over "
                            "weights: --unweighted)",
                            shown(word)));
  if (error != std::errc() || !(value <= std::numeric_limits<float>::max()))
    fault(word, fmt::format("the weight {} is out of range; expected 0 to 3.4e38", shown(word)));
  return std::bit_cast<std::uint32_t>(static_cast<float>(std::abs(value)));  // no -0
}

void NumberParser::fault(const char* where, std::string problem) const {
  throw TextFault{static_cast<std::size_t>(where - begin), std::move(problem)};
}

namespace {

// Loops over a word or line need no end: the text ends with a line end.
class LineParser : NumberParser {
 public:
  LineParser(std::string_view lines, const TextRules& rules)
      : NumberParser(lines), end_(begin + lines.size()), rules_(rules) {}

  template <bool weighted>
  Weights parse(EdgeScratch& edges) {
    // "1 2\n" and "1 2 3\n" are the shortest lines.
    edges.edges.resize(static_cast<std::size_t>(end_ - begin) / (weighted ? 6 : 4) + 1);
    edges.weights.resize(weighted ? edges.edges.size() : 0);
    kind_ = rules_.weights == TextRules::Column::real ? Weights::float32 : Weights::int32;
    Edge* next = edges.edges.data();
    while (at < end_) {
      const Kind kind = kind_of(*at);
      if (kind == Kind::blank || kind == Kind::line_end) {
        ++at;
        continue;
      }
      if (kind == Kind::comment || (rules_.arcs && !arc())) {
        skip_line();
        continue;
      }
      const Vertex from = id(rules_);
      next_column("the line has one column; two ids were expected, such as '0 1'");
      const Vertex to = id(rules_);
      if constexpr (weighted) {
        next_column("the line has two columns; a weight was expected in the third");
        add_weight(edges.weights, static_cast<std::size_t>(next - edges.edges.data()));
      }
      skip_columns();
      *next++ = {from, to};
    }
    edges.edges.resize(static_cast<std::size_t>(next - edges.edges.data()));
    if (weighted) edges.weights.resize(edges.edges.size());
    return weighted ? kind_ : Weights::none;
  }

 private:
  // Whether the line is an arc, whose ids come next.
  bool arc() {
    const char* const word = at;
    if (*at == 'c' && ends_word(kind_of(at[1]))) return false;
    if (*at != 'a' || !ends_word(kind_of(at[1])))
      fault(word, fmt::format("'{}' begins the line; expected 'a FROM TO WEIGHT'", shown(word)));
    ++at;
    next_column("the line has one column; expected 'a FROM TO WEIGHT'");
    return true;
  }

  void next_column(const char* missing) {
    while (kind_of(*at) == Kind::blank) ++at;
    if (kind_of(*at) == Kind::line_end || kind_of(*at) == Kind::comment) fault(at, missing);
  }

  void add_weight(std::vector<std::uint32_t>& weights, std::size_t i) {
    const char* const word = at;
    Weights kind;
    weights[i] = weight(kind);
    if (kind == kind_) return;
    if (kind == Weights::int32) {
      to_floats(std::span(weights).subspan(i, 1));
      return;
    }
    if (rules_.weights == TextRules::Column::whole)
      fault(word, fmt::format("the weight {} is not a whole number below 2^31", shown(word)));
    to_floats(std::span(weights).first(i));
    kind_ = Weights::float32;
  }

  void skip_columns() {
    for (Kind kind = kind_of(*at); kind != Kind::line_end; kind = kind_of(*++at)) {
      if (kind == Kind::comment) return skip_line();
      if (kind == Kind::other) {
        fault(at, fmt::format("'{}' in a further column; only numbers were expected there",
                              *at > ' ' && *at <= '~' ? *at : '?'));
      }
    }
  }

  void skip_line() {
    while (kind_of(*at) != Kind::line_end) ++at;
  }

  const char* end_;
  const TextRules rules_;
  Weights kind_ = Weights::none;
};

}  // namespace

Weights parse_edges(std::string_view lines, const TextRules& rules, EdgeScratch& edges) {
  LineParser parser(lines, rules);
  return rules.weights == TextRules::Column::ignored ? parser.parse<false>(edges)
                                                     : parser.parse<true>(edges);
}

void to_floats(std::span<std::uint32_t> weights) {
  for (std::uint32_t& weight : weights)
    weight = std::bit_cast<std::uint32_t>(static_cast<float>(weight));
}

}  // namespace holdall::graph
