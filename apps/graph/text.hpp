// Lines of text to edges.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "apps/graph/edges.hpp"

namespace holdall::graph {

struct TextRules {
  std::uint64_t base = 0;                  // the id of the first vertex in the text
  std::uint64_t vertices = most_vertices;  // ids are below base + vertices
  // The third column: `whole` and `real` numbers become int32 and float32, `any` int32 where all of
  // them are whole and below 2^31, else float32.
  enum class Column { ignored, any, whole, real } weights = Column::ignored;
  bool arcs = false;  // each line begins with the word `a`; those that begin with `c` say nothing
};

// What is wrong at byte `at` of the text that was given.
struct TextFault {
  std::size_t at = 0;
  std::string problem;
};

// Replaces `edges` by those of `lines`: two ids a line, apart by blanks, tabs, commas or
// semicolons, and a weight where the rules ask for one; further columns must look like numbers and
// are passed over; empty lines and what follows # or % are too. The text ends with a line end; \n,
// \r\n and \r all are. Returns the kind of the weights. Throws TextFault.
Weights parse_edges(std::string_view lines, const TextRules& rules, EdgeScratch& edges);

// Words of numbers, each at `at`, which moves past it. The text ends with a line end.
class NumberParser {
 public:
  explicit NumberParser(std::string_view text) : begin(text.data()), at(text.data()) {}

  Vertex id(const TextRules& rules);
  // The bits of an int32, or of a float32 where the word has a fraction or an exponent or is 2^31
  // or more; `kind` says which. Throws TextFault for what is negative or not finite.
  std::uint32_t weight(Weights& kind);
  [[noreturn]] void fault(const char* where, std::string problem) const;
  std::string shown(const char* word) const;  // for messages

  const char* begin;
  const char* at;

 private:
  [[noreturn]] void bad_id(const char* word, const TextRules& rules) const;
  std::uint32_t real(const char* word, Weights& kind);
};

// Ints as floats, in place.
void to_floats(std::span<std::uint32_t> weights);

}  // namespace holdall::graph
